-- Version 13. The advice of roles (docs/roles.md), how right it was, and the versions of prompts
-- that compete as arms.

-- A reply of a role. candidate_id: the kernel that the advice is about; NULL: about none.
-- content: the advice (JSON, agents/roles/role_reply.h); NULL: the reply was of no use, and
-- `problem` says why.
CREATE TABLE advice (
  call_id INTEGER PRIMARY KEY REFERENCES model_calls (id),
  role TEXT NOT NULL,
  candidate_id INTEGER REFERENCES candidates (id),
  content TEXT CHECK (content IS NULL OR json_valid(content)),
  problem TEXT NOT NULL
) STRICT;

-- A prediction beside what was measured. judge: `name` is a fact of the kernel's record, and the
-- numbers are changes in per cent, from the parent to the candidate. verifier: `name` is 'fails',
-- and the numbers are 1 for yes and 0 for no.
CREATE TABLE advice_scores (
  call_id INTEGER NOT NULL REFERENCES advice (call_id),
  candidate_id INTEGER NOT NULL REFERENCES candidates (id),
  name TEXT NOT NULL,
  predicted REAL NOT NULL,
  actual REAL NOT NULL,
  is_right INTEGER NOT NULL CHECK (is_right IN (0, 1)),
  PRIMARY KEY (call_id, candidate_id, name)
) STRICT, WITHOUT ROWID;

-- The arms that the prompt of a candidate belongs to. variant: the key of the meta-prompter's call
-- whose words the prompt has; empty: it has none. gain: the log speedup over the parent, 0 at least.
CREATE TABLE prompt_arms (
  candidate_id INTEGER PRIMARY KEY REFERENCES candidates (id),
  variant TEXT NOT NULL,
  memory INTEGER NOT NULL CHECK (memory IN (0, 1)),
  gain REAL NOT NULL
) STRICT;
