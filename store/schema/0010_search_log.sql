-- Version 10. The structure of compiled code (JSON, a list of texts), and the log of searches.
ALTER TABLE builds ADD COLUMN features TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(features));

-- The decisions of each search and the events that they rest on, in order. A resumed run
-- takes its decisions from here. A row is written in the same transaction as the rows that it speaks
-- of. detail: JSON, as search/event.h describes it.
CREATE TABLE search_log (
  run_id INTEGER NOT NULL REFERENCES runs (id),
  task_id INTEGER NOT NULL REFERENCES tasks (id),
  seq INTEGER NOT NULL,
  kind TEXT NOT NULL,
  detail TEXT NOT NULL CHECK (json_valid(detail)),
  created_at TEXT NOT NULL,
  PRIMARY KEY (run_id, task_id, seq)
) STRICT, WITHOUT ROWID;
