-- Version 1. Times are ISO-8601 UTC text. Names of durations contain the unit. JSON columns have
-- valid JSON. Verdict and stage are the fixed numbers of tasks/result/verdict.h; the views show their
-- names.

CREATE TABLE verdicts (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL
) STRICT;

CREATE TABLE stages (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL,
  config TEXT NOT NULL CHECK (json_valid(config)),
  started_at TEXT NOT NULL,
  finished_at TEXT
) STRICT;

CREATE TABLE environments (
  run_id INTEGER PRIMARY KEY REFERENCES runs (id),
  content TEXT NOT NULL CHECK (json_valid(content)),
  recorded_at TEXT NOT NULL
) STRICT;

CREATE TABLE events (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs (id),
  kind TEXT NOT NULL,
  detail TEXT NOT NULL CHECK (json_valid(detail)),
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_run ON events (run_id);

-- One row per revision of a task: the digest covers all of its files.
CREATE TABLE tasks (
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL,
  name TEXT NOT NULL,
  category TEXT NOT NULL,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  definition TEXT NOT NULL CHECK (json_valid(definition)),
  reference_source TEXT NOT NULL,
  baseline_source TEXT NOT NULL,
  python_source TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (name, digest)
) STRICT;

-- The texts of messages. Each text is stored once, also the long common beginning of all prompts.
CREATE TABLE prompts (
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL
) STRICT;

-- `request` is the request as sent, with each message text replaced by {"$prompt": digest}.
CREATE TABLE model_calls (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs (id),
  task_id INTEGER NOT NULL REFERENCES tasks (id),
  key TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  model TEXT NOT NULL,
  answering_model TEXT,
  status TEXT NOT NULL CHECK (status IN ('pending', 'ok', 'failed')),
  times_sent INTEGER NOT NULL,
  request TEXT NOT NULL CHECK (json_valid(request)),
  reply TEXT,
  error TEXT,
  finish_reason TEXT,
  prompt_tokens INTEGER,
  cached_tokens INTEGER,
  completion_tokens INTEGER,
  reasoning_tokens INTEGER,
  dollars REAL,
  seconds REAL,
  started_at TEXT NOT NULL,
  finished_at TEXT,
  UNIQUE (run_id, key)
) STRICT;

CREATE TABLE call_prompts (
  call_id INTEGER NOT NULL REFERENCES model_calls (id),
  position INTEGER NOT NULL,
  prompt_id INTEGER NOT NULL REFERENCES prompts (id),
  PRIMARY KEY (call_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE kernel_files (
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL,
  lines INTEGER NOT NULL
) STRICT;

CREATE TABLE candidates (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs (id),
  task_id INTEGER NOT NULL REFERENCES tasks (id),
  call_id INTEGER REFERENCES model_calls (id),
  call_key TEXT NOT NULL,
  parent_id INTEGER REFERENCES candidates (id),
  origin TEXT NOT NULL CHECK (origin IN ('baseline', 'model', 'person')),
  kernel_file_id INTEGER NOT NULL REFERENCES kernel_files (id),
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX candidates_of_calls ON candidates (run_id, task_id, call_key)
  WHERE call_key <> '';
CREATE UNIQUE INDEX candidates_without_call ON candidates (run_id, task_id, origin, kernel_file_id)
  WHERE call_key = '';
CREATE INDEX candidates_by_kernel_file ON candidates (kernel_file_id);

CREATE TABLE variants (
  id INTEGER PRIMARY KEY,
  candidate_id INTEGER NOT NULL REFERENCES candidates (id),
  parameters TEXT NOT NULL CHECK (json_valid(parameters)),
  UNIQUE (candidate_id, parameters)
) STRICT;

CREATE TABLE builds (
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  compiler TEXT NOT NULL,
  log TEXT NOT NULL
) STRICT;

-- `ordinal` 0 is the evaluation that counts for its candidate; other ordinals are further variants.
-- speedup and score_ns are NULL if nothing was timed.
CREATE TABLE evaluations (
  id INTEGER PRIMARY KEY,
  candidate_id INTEGER NOT NULL REFERENCES candidates (id),
  variant_id INTEGER NOT NULL REFERENCES variants (id),
  ordinal INTEGER NOT NULL,
  verdict INTEGER NOT NULL REFERENCES verdicts (number),
  stage INTEGER NOT NULL REFERENCES stages (number),
  detail TEXT NOT NULL,
  notes TEXT NOT NULL CHECK (json_valid(notes)),
  speedup REAL,
  score_ns REAL,
  device TEXT NOT NULL,
  device_name TEXT NOT NULL,
  isolation TEXT NOT NULL,
  evaluator_version INTEGER NOT NULL,
  build_id INTEGER REFERENCES builds (id),
  build_from_cache INTEGER NOT NULL,
  build_seconds REAL NOT NULL,
  started_at TEXT NOT NULL,
  seconds REAL NOT NULL,
  superseded_by INTEGER REFERENCES evaluations (id),
  UNIQUE (candidate_id, ordinal)
) STRICT;

-- mismatch: numbers that JSON lacks are the strings "nan", "inf" and "-inf".
-- seed: the bits of an unsigned 64-bit number.
CREATE TABLE cases (
  id INTEGER PRIMARY KEY,
  evaluation_id INTEGER NOT NULL REFERENCES evaluations (id),
  ordinal INTEGER NOT NULL,
  stage INTEGER NOT NULL REFERENCES stages (number),
  shape_id TEXT NOT NULL,
  shape_set TEXT NOT NULL,
  shape TEXT NOT NULL,
  seed INTEGER NOT NULL,
  verdict INTEGER NOT NULL REFERENCES verdicts (number),
  detail TEXT NOT NULL,
  mismatch TEXT CHECK (mismatch IS NULL OR json_valid(mismatch)),
  max_error_ratio REAL,
  median_ns REAL,
  baseline_median_ns REAL,
  UNIQUE (evaluation_id, ordinal)
) STRICT;

-- Raw times in the order of measurement. The view `samples` has one row per time.
CREATE TABLE sample_series (
  case_id INTEGER NOT NULL REFERENCES cases (id),
  kernel TEXT NOT NULL CHECK (kernel IN ('candidate', 'baseline')),
  times_ns TEXT NOT NULL CHECK (json_valid(times_ns)),
  PRIMARY KEY (case_id, kernel)
) STRICT, WITHOUT ROWID;

-- A group of comparable evaluations: the same revision of a task, machine and evaluator version.
-- run_id NULL: over all runs.
CREATE TABLE leaderboard_groups (
  id INTEGER PRIMARY KEY,
  run_id INTEGER REFERENCES runs (id),
  task_id INTEGER NOT NULL REFERENCES tasks (id),
  device TEXT NOT NULL,
  device_name TEXT NOT NULL,
  evaluator_version INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX leaderboard_groups_key ON leaderboard_groups
  (coalesce(run_id, 0), task_id, device, device_name, evaluator_version);

-- The eligible evaluations. A group has each distinct kernel file once, with its first evaluation:
-- keeping the best of several measurements of the same kernel would reward luck. Triggers maintain
-- the table, so that an index gives the top of a leaderboard.
CREATE TABLE standings (
  group_id INTEGER NOT NULL REFERENCES leaderboard_groups (id),
  kernel_file_id INTEGER NOT NULL REFERENCES kernel_files (id),
  evaluation_id INTEGER NOT NULL REFERENCES evaluations (id),
  speedup REAL NOT NULL,
  PRIMARY KEY (group_id, kernel_file_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX standings_by_speedup ON standings (group_id, speedup DESC, evaluation_id);
CREATE INDEX standings_by_evaluation ON standings (evaluation_id);
