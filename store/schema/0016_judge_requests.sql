-- Version 16. What trainers ask of `winnow serve --judge`.

-- job: a digest of all that the answer depends on. options: JSON.
CREATE TABLE judge_jobs (
  job TEXT PRIMARY KEY,
  candidate_id INTEGER NOT NULL UNIQUE REFERENCES candidates (id),
  options TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Several items can ask for one job. place: of the result in its batch, in the order of the
-- answers; NULL: not answered yet. fault: why the machine gave no answer; NULL: it gave one.
CREATE TABLE judge_items (
  batch TEXT NOT NULL,
  position INTEGER NOT NULL,
  item TEXT NOT NULL,
  job TEXT NOT NULL REFERENCES judge_jobs (job),
  owner TEXT NOT NULL,
  reward TEXT NOT NULL,
  place INTEGER,
  fault TEXT,
  asked_at TEXT NOT NULL,
  answered_at TEXT,
  PRIMARY KEY (batch, position),
  UNIQUE (batch, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX judge_items_by_job ON judge_items (job);
CREATE INDEX judge_items_by_owner ON judge_items (owner, item, asked_at);
