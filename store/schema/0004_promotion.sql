-- Version 4. Hidden shapes decide who leads.

-- As speedup, over the promotion shapes; NULL: not timed there.
ALTER TABLE evaluations ADD COLUMN hidden_speedup REAL;
-- 0: correct, and on hidden shapes too slow beside the best so far to be ranked.
ALTER TABLE evaluations ADD COLUMN promoted INTEGER NOT NULL DEFAULT 1 CHECK (promoted IN (0, 1));

-- The kernel that leads a run's board, judged once on shapes that nothing before has seen.
-- speedup: as hidden_speedup, over the held_out shapes; cases: the public form of an evaluation's.
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
