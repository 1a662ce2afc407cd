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

DROP VIEW eligible_evaluations;
-- The one definition of eligibility.
CREATE VIEW eligible_evaluations AS
SELECT e.id AS evaluation_id, e.speedup, e.device, e.device_name, e.evaluator_version,
       c.id AS candidate_id, c.run_id, c.task_id, c.kernel_file_id
FROM evaluations AS e
JOIN candidates AS c ON c.id = e.candidate_id
WHERE e.ordinal = 0
  AND e.verdict = (SELECT number FROM verdicts WHERE name = 'correct')
  AND e.speedup > 0
  AND e.promoted = 1
  AND e.superseded_by IS NULL;
