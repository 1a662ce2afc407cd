-- Version 4. Hidden shapes decide which kernel leads.

-- As speedup, over the promotion shapes; NULL: not timed.
ALTER TABLE evaluations ADD COLUMN hidden_speedup REAL;
-- 0: correct, but too slow on hidden shapes to be ranked.
ALTER TABLE evaluations ADD COLUMN promoted INTEGER NOT NULL DEFAULT 1 CHECK (promoted IN (0, 1));

-- The result of a run's leading kernel on shapes that were never used before. speedup: as
-- hidden_speedup, over the held_out shapes. cases: in the public form of an evaluation's cases.
CREATE TABLE held_out_results (
  run_id INTEGER NOT NULL REFERENCES runs (id),
  task_id INTEGER NOT NULL REFERENCES tasks (id),
  device_name TEXT NOT NULL,
  candidate_id INTEGER NOT NULL REFERENCES candidates (id),
  evaluation_id INTEGER NOT NULL REFERENCES evaluations (id),
  verdict INTEGER NOT NULL REFERENCES verdicts (number),
  detail TEXT NOT NULL,
  speedup REAL,
  cases TEXT NOT NULL CHECK (json_valid(cases)),
  evaluator_version INTEGER NOT NULL,
  judged_at TEXT NOT NULL,
  PRIMARY KEY (run_id, task_id, device_name)
) STRICT, WITHOUT ROWID;
