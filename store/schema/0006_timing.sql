-- Version 6. Intervals of times, conditions of a measurement, races, and the device's counters.

-- Median over the pairs of baseline / candidate samples; NULL: not timed. Earlier versions used the
-- quotient of the medians.
ALTER TABLE cases ADD COLUMN speedup REAL;
UPDATE cases SET speedup = baseline_median_ns / median_ns WHERE median_ns > 0 AND baseline_median_ns > 0;
-- 95 % intervals of the median and of speedup; NULL: not timed, or too few samples.
ALTER TABLE cases ADD COLUMN median_low_ns REAL;
ALTER TABLE cases ADD COLUMN median_high_ns REAL;
ALTER TABLE cases ADD COLUMN speedup_low REAL;
ALTER TABLE cases ADD COLUMN speedup_high REAL;
-- Warm-ups, discarded samples, clocks, ...: TimingConditions in tasks/result/evaluation.h. NULL: not
-- timed.
ALTER TABLE cases ADD COLUMN conditions TEXT CHECK (conditions IS NULL OR json_valid(conditions));

-- 95 % interval of speedup.
ALTER TABLE evaluations ADD COLUMN speedup_low REAL;
ALTER TABLE evaluations ADD COLUMN speedup_high REAL;
-- The race against the leading kernel: RaceResult in tasks/result/evaluation.h. NULL: no race.
ALTER TABLE evaluations ADD COLUMN race TEXT CHECK (race IS NULL OR json_valid(race));

-- The table is recreated because SQLite cannot change the constraint on `kernel`.
ALTER TABLE sample_series RENAME TO sample_series_5;
CREATE TABLE sample_series (
  case_id INTEGER NOT NULL REFERENCES cases (id),
  kernel TEXT NOT NULL CHECK (kernel IN ('candidate', 'baseline', 'incumbent', 'warm')),
  times_ns TEXT NOT NULL CHECK (json_valid(times_ns)),
  PRIMARY KEY (case_id, kernel)
) STRICT, WITHOUT ROWID;
INSERT INTO sample_series SELECT case_id, kernel, times_ns FROM sample_series_5;
DROP TABLE sample_series_5;

-- The newest counter profile of a binary at the shapes of a task. Equal machine code has one
-- profile, whichever source it was compiled from. machine_code_digest: the build's digest if the
-- build has no machine code digest.
CREATE TABLE profiles (
  id INTEGER PRIMARY KEY,
  machine_code_digest TEXT NOT NULL,
  task_id INTEGER NOT NULL REFERENCES tasks (id),
  device_name TEXT NOT NULL,
  content TEXT NOT NULL CHECK (json_valid(content)),
  recorded_at TEXT NOT NULL,
  UNIQUE (machine_code_digest, task_id, device_name)
) STRICT;

-- As in version 1, plus the bounds. The view ranked_standings needs an index on each bound.
ALTER TABLE standings RENAME TO standings_5;
DROP INDEX standings_by_speedup;
DROP INDEX standings_by_evaluation;
CREATE TABLE standings (
  group_id INTEGER NOT NULL REFERENCES leaderboard_groups (id),
  kernel_file_id INTEGER NOT NULL REFERENCES kernel_files (id),
  evaluation_id INTEGER NOT NULL REFERENCES evaluations (id),
  speedup REAL NOT NULL,
  speedup_low REAL NOT NULL CHECK (speedup_low <= speedup),
  speedup_high REAL NOT NULL CHECK (speedup_high >= speedup),
  PRIMARY KEY (group_id, kernel_file_id)
) STRICT, WITHOUT ROWID;
INSERT INTO standings
SELECT group_id, kernel_file_id, evaluation_id, speedup, speedup, speedup FROM standings_5;
DROP TABLE standings_5;
CREATE INDEX standings_by_speedup
  ON standings (group_id, speedup DESC, evaluation_id, speedup_high);
CREATE INDEX standings_by_low ON standings (group_id, speedup_low);
CREATE INDEX standings_by_high ON standings (group_id, speedup_high, speedup, evaluation_id);
CREATE INDEX standings_by_evaluation ON standings (evaluation_id);
