-- Version 9. Sittings: several kernels of a task and its baseline, timed in turns.

-- Identifies the kernel: the SHA-256 of its file's text and its parameters, as in `rival` of races.
-- Winnow provides the SQL function `sha256`.
ALTER TABLE evaluations ADD COLUMN kernel TEXT;
UPDATE evaluations SET kernel = (
  SELECT sha256(k.text || v.parameters)
  FROM variants AS v
  JOIN candidates AS c ON c.id = v.candidate_id
  JOIN kernel_files AS k ON k.id = c.kernel_file_id
  WHERE v.id = evaluations.variant_id);
CREATE INDEX evaluations_by_kernel ON evaluations (kernel);

-- run_id: the run that ended with this sitting, or whose board was verified again; NULL: the board
-- over all runs. seed: the bits of an unsigned 64-bit number. baseline_spread: standard deviation
-- of the logarithm of the baseline's time between evaluations; 0: not known. widening: the factor
-- that widens a speedup interval from outside the sitting.
CREATE TABLE sittings (
  id INTEGER PRIMARY KEY,
  run_id INTEGER REFERENCES runs (id),
  task_id INTEGER NOT NULL REFERENCES tasks (id),
  device TEXT NOT NULL,
  device_name TEXT NOT NULL,
  evaluator_version INTEGER NOT NULL,
  seed INTEGER NOT NULL,
  rounds INTEGER NOT NULL,
  baseline_spread REAL NOT NULL,
  widening REAL NOT NULL CHECK (widening >= 1),
  started_at TEXT NOT NULL,
  seconds REAL NOT NULL
) STRICT;
CREATE INDEX sittings_by_task ON sittings (task_id, device_name, evaluator_version);

-- One finalist. rank NULL: it lost its place; `verdict` and `detail` give the reason. times: JSON,
-- one entry per search shape. races: JSON, one race per other finalist, as in evaluations.race.
CREATE TABLE sitting_rows (
  sitting_id INTEGER NOT NULL REFERENCES sittings (id),
  position INTEGER NOT NULL,
  kernel TEXT NOT NULL,
  kernel_file_id INTEGER NOT NULL REFERENCES kernel_files (id),
  evaluation_id INTEGER NOT NULL REFERENCES evaluations (id),
  verdict INTEGER NOT NULL REFERENCES verdicts (number),
  detail TEXT NOT NULL,
  rank INTEGER,
  score_ns REAL,
  speedup REAL,
  speedup_low REAL,
  speedup_high REAL,
  held_out_speedup REAL,
  times TEXT NOT NULL CHECK (json_valid(times)),
  races TEXT NOT NULL CHECK (json_valid(races)),
  PRIMARY KEY (sitting_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX sitting_rows_by_kernel ON sitting_rows (sitting_id, kernel);
