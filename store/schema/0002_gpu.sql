-- Version 2. Compiler data on GPU code, times of the plan's `prepare` steps, and baselines from
-- libraries.

ALTER TABLE builds ADD COLUMN architecture TEXT NOT NULL DEFAULT '';
ALTER TABLE builds ADD COLUMN machine_code_digest TEXT NOT NULL DEFAULT '';
-- One object per kernel: registers, spill and stack bytes per thread, static shared bytes per
-- block.
ALTER TABLE builds ADD COLUMN kernels TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(kernels));
CREATE INDEX builds_by_machine_code ON builds (machine_code_digest) WHERE machine_code_digest <> '';

-- Time of one run of the plan's `prepare` steps; NULL without such steps.
ALTER TABLE cases ADD COLUMN prepare_ns REAL;

-- Measurements of libraries and frameworks that compute a task's operation: "torch eager",
-- "torch.compile", "cublaslt". error: why there is no answer, or where it differs from the
-- reference; else NULL. Tiny shapes are only checked, not timed.
CREATE TABLE baseline_timings (
  id INTEGER PRIMARY KEY,
  task_id INTEGER NOT NULL REFERENCES tasks (id),
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  device TEXT NOT NULL,
  device_name TEXT NOT NULL,
  shape_id TEXT NOT NULL,
  shape TEXT NOT NULL,
  median_ns REAL,
  times_ns TEXT NOT NULL CHECK (json_valid(times_ns)),
  max_error_ratio REAL,
  agrees INTEGER CHECK (agrees IN (0, 1)),
  error TEXT,
  recorded_at TEXT NOT NULL
) STRICT;
CREATE INDEX baseline_timings_by_task ON baseline_timings (task_id, device_name, name, shape_id);
