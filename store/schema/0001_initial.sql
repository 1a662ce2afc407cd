-- Version 1. Times are ISO-8601 UTC text, durations say their unit, JSON columns hold valid JSON.
-- Verdict and stage are the fixed numbers of tasks/verdict.h; the views show their names.

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

-- The texts of messages, each once: the long common beginning of all prompts is stored only once.
CREATE TABLE prompts (
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL
) STRICT;

-- `request` is what was sent, with each message text replaced by {"$prompt": digest}.
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

-- `ordinal` 0 is the evaluation that counts for its candidate; others are further variants.
-- speedup and score_ns are NULL when nothing was timed.
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

-- mismatch: numbers that JSON cannot say are the strings "nan", "inf" and "-inf".
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

-- Raw times in the order they were taken; the view `samples` has one row for each.
CREATE TABLE sample_series (
  case_id INTEGER NOT NULL REFERENCES cases (id),
  kernel TEXT NOT NULL CHECK (kernel IN ('candidate', 'baseline')),
  times_ns TEXT NOT NULL CHECK (json_valid(times_ns)),
  PRIMARY KEY (case_id, kernel)
) STRICT, WITHOUT ROWID;

-- What is compared with what: never two revisions of a task, two machines or two ways to measure.
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

-- The eligible evaluations, each distinct kernel file once a group: its first one, because keeping
-- the best of several measurements of the same kernel would reward luck. Kept by triggers, so that
-- the top of a leaderboard is read from an index.
CREATE TABLE standings (
  group_id INTEGER NOT NULL REFERENCES leaderboard_groups (id),
  kernel_file_id INTEGER NOT NULL REFERENCES kernel_files (id),
  evaluation_id INTEGER NOT NULL REFERENCES evaluations (id),
  speedup REAL NOT NULL,
  PRIMARY KEY (group_id, kernel_file_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX standings_by_speedup ON standings (group_id, speedup DESC, evaluation_id);
CREATE INDEX standings_by_evaluation ON standings (evaluation_id);

-- The one definition of eligibility.
CREATE VIEW eligible_evaluations AS
SELECT e.id AS evaluation_id, e.speedup, e.device, e.device_name, e.evaluator_version,
       c.id AS candidate_id, c.run_id, c.task_id, c.kernel_file_id
FROM evaluations AS e
JOIN candidates AS c ON c.id = e.candidate_id
WHERE e.ordinal = 0
  AND e.verdict = (SELECT number FROM verdicts WHERE name = 'correct')
  AND e.speedup > 0
  AND e.superseded_by IS NULL;

CREATE TRIGGER evaluation_joins_standings AFTER INSERT ON evaluations WHEN NEW.ordinal = 0
BEGIN
  INSERT INTO leaderboard_groups (run_id, task_id, device, device_name, evaluator_version)
  SELECT NULL, task_id, device, device_name, evaluator_version
  FROM eligible_evaluations WHERE evaluation_id = NEW.id
  UNION ALL
  SELECT run_id, task_id, device, device_name, evaluator_version
  FROM eligible_evaluations WHERE evaluation_id = NEW.id
  ON CONFLICT DO NOTHING;
  INSERT INTO standings (group_id, kernel_file_id, evaluation_id, speedup)
  SELECT g.id, x.kernel_file_id, x.evaluation_id, x.speedup
  FROM eligible_evaluations AS x
  JOIN leaderboard_groups AS g
    ON coalesce(g.run_id, 0) IN (0, x.run_id) AND g.task_id = x.task_id AND g.device = x.device
   AND g.device_name = x.device_name AND g.evaluator_version = x.evaluator_version
  WHERE x.evaluation_id = NEW.id
  ON CONFLICT DO NOTHING;
END;

-- A superseded evaluation leaves, and the next one of the same kernel file takes its place.
CREATE TRIGGER evaluation_leaves_standings AFTER UPDATE OF superseded_by ON evaluations
BEGIN
  DELETE FROM standings WHERE evaluation_id = NEW.id;
  INSERT INTO standings (group_id, kernel_file_id, evaluation_id, speedup)
  SELECT g.id, x.kernel_file_id, x.evaluation_id, x.speedup
  FROM eligible_evaluations AS x
  JOIN leaderboard_groups AS g
    ON coalesce(g.run_id, 0) IN (0, x.run_id) AND g.task_id = x.task_id AND g.device = x.device
   AND g.device_name = x.device_name AND g.evaluator_version = x.evaluator_version
  WHERE x.kernel_file_id = (SELECT kernel_file_id FROM candidates WHERE id = NEW.candidate_id)
  ORDER BY x.evaluation_id
  ON CONFLICT DO NOTHING;
END;

-- The one definition of rank: by speedup, ties share a rank.
CREATE VIEW ranked_standings AS
SELECT group_id, evaluation_id, speedup,
       rank() OVER (PARTITION BY group_id ORDER BY speedup DESC) AS rank
FROM standings;

-- CROSS JOIN keeps the ranked rows in the outer loop, so that LIMIT stops the ranking early.
CREATE VIEW ranked_evaluations AS
SELECT r.group_id, g.run_id AS board_run_id, t.name AS task, e.device, e.device_name, r.rank,
       r.speedup, e.score_ns, c.id AS candidate_id, e.id AS evaluation_id, c.run_id, c.origin,
       coalesce(m.model, '') AS model, v.parameters, e.isolation, k.digest, k.lines,
       e.started_at AS evaluated_at, e.evaluator_version, t.digest AS task_digest
FROM ranked_standings AS r
CROSS JOIN leaderboard_groups AS g ON g.id = r.group_id
CROSS JOIN evaluations AS e ON e.id = r.evaluation_id
CROSS JOIN variants AS v ON v.id = e.variant_id
CROSS JOIN candidates AS c ON c.id = e.candidate_id
CROSS JOIN tasks AS t ON t.id = c.task_id
CROSS JOIN kernel_files AS k ON k.id = c.kernel_file_id
LEFT JOIN model_calls AS m ON m.id = c.call_id;

-- What every output reads: over all runs, and the same within each run.
CREATE VIEW leaderboard AS SELECT * FROM ranked_evaluations WHERE board_run_id IS NULL;
CREATE VIEW run_leaderboard AS SELECT * FROM ranked_evaluations WHERE board_run_id IS NOT NULL;

-- Every evaluation in words, variants too.
CREATE VIEW evaluation_overview AS
SELECT e.id AS evaluation_id, r.name AS run, t.name AS task, e.candidate_id, e.ordinal,
       v.parameters, d.name AS verdict, s.name AS stage, e.detail, e.speedup, e.score_ns, e.device,
       e.device_name, e.isolation, b.compiler, e.build_from_cache, e.build_seconds, e.seconds,
       e.evaluator_version, e.started_at, e.superseded_by
FROM evaluations AS e
JOIN candidates AS c ON c.id = e.candidate_id
JOIN runs AS r ON r.id = c.run_id
JOIN tasks AS t ON t.id = c.task_id
JOIN variants AS v ON v.id = e.variant_id
JOIN verdicts AS d ON d.number = e.verdict
JOIN stages AS s ON s.number = e.stage
LEFT JOIN builds AS b ON b.id = e.build_id;

-- Every candidate with the evaluation that counts (NULL: not evaluated yet).
CREATE VIEW candidate_overview AS
SELECT c.id AS candidate_id, c.run_id, r.name AS run, c.task_id, t.name AS task, c.origin,
       m.model, c.call_key, c.parent_id, coalesce(d.name, 'not_judged') AS verdict,
       s.name AS stage, e.detail, e.speedup, e.score_ns, v.parameters, e.device, e.device_name,
       e.isolation, k.digest, k.lines, c.created_at, e.started_at AS evaluated_at
FROM candidates AS c
JOIN runs AS r ON r.id = c.run_id
JOIN tasks AS t ON t.id = c.task_id
JOIN kernel_files AS k ON k.id = c.kernel_file_id
LEFT JOIN model_calls AS m ON m.id = c.call_id
LEFT JOIN evaluations AS e ON e.candidate_id = c.id AND e.ordinal = 0
LEFT JOIN variants AS v ON v.id = e.variant_id
LEFT JOIN verdicts AS d ON d.number = e.verdict
LEFT JOIN stages AS s ON s.number = e.stage;

CREATE VIEW verdict_counts AS
SELECT run, task, device, verdict, count(*) AS candidates
FROM candidate_overview
GROUP BY run, task, device, verdict;

CREATE VIEW case_overview AS
SELECT k.id AS case_id, k.evaluation_id, e.candidate_id, s.name AS stage, k.shape_set, k.shape_id,
       k.shape, k.seed, d.name AS verdict, k.detail, k.mismatch, k.max_error_ratio, k.median_ns,
       k.baseline_median_ns
FROM cases AS k
JOIN evaluations AS e ON e.id = k.evaluation_id
JOIN verdicts AS d ON d.number = k.verdict
JOIN stages AS s ON s.number = k.stage;

CREATE VIEW samples AS
SELECT s.case_id, s.kernel, j.key AS ordinal, j.value AS time_ns
FROM sample_series AS s, json_each(s.times_ns) AS j;

CREATE VIEW call_messages AS
SELECT m.id AS call_id, m.run_id, m.key, p.position,
       json_extract(m.request, '$.messages[' || p.position || '].role') AS role, t.text
FROM model_calls AS m
JOIN call_prompts AS p ON p.call_id = m.id
JOIN prompts AS t ON t.id = p.prompt_id;

-- dollars is a lower bound where calls_without_price is not 0.
CREATE VIEW run_overview AS
SELECT r.id AS run_id, r.name AS run, r.status, r.started_at, r.finished_at,
       (SELECT count(*) FROM candidates WHERE run_id = r.id) AS candidates,
       count(m.id) AS calls,
       total(m.prompt_tokens) AS prompt_tokens,
       total(m.completion_tokens) AS completion_tokens,
       sum(m.dollars) AS dollars,
       count(m.id) FILTER (WHERE m.dollars IS NULL) AS calls_without_price
FROM runs AS r
LEFT JOIN model_calls AS m ON m.run_id = r.id
GROUP BY r.id;
