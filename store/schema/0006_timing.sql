-- Version 6. What a time is known to lie between, how it was taken, what it was compared with, and
-- what the device's counters say.

-- Median of baseline / candidate, sample beside sample; NULL: not timed. Until now it was the quotient
-- of the medians.
ALTER TABLE cases ADD COLUMN speedup REAL;
UPDATE cases SET speedup = baseline_median_ns / median_ns WHERE median_ns > 0 AND baseline_median_ns > 0;
-- 95 % intervals of the median and of speedup; NULL: not timed, or too few samples.
ALTER TABLE cases ADD COLUMN median_low_ns REAL;
ALTER TABLE cases ADD COLUMN median_high_ns REAL;
ALTER TABLE cases ADD COLUMN speedup_low REAL;
ALTER TABLE cases ADD COLUMN speedup_high REAL;
-- Warm-ups, discarded samples, clocks, ...: TimingConditions of tasks/evaluation.h. NULL: not timed.
ALTER TABLE cases ADD COLUMN conditions TEXT CHECK (conditions IS NULL OR json_valid(conditions));

-- 95 % interval of speedup.
ALTER TABLE evaluations ADD COLUMN speedup_low REAL;
ALTER TABLE evaluations ADD COLUMN speedup_high REAL;
-- Against the kernel that led: RaceResult of tasks/evaluation.h. NULL: there was none.
ALTER TABLE evaluations ADD COLUMN race TEXT CHECK (race IS NULL OR json_valid(race));

-- The table is made anew because SQLite cannot change the constraint on `kernel`.
DROP VIEW samples;
ALTER TABLE sample_series RENAME TO sample_series_5;
CREATE TABLE sample_series (
  case_id INTEGER NOT NULL REFERENCES cases (id),
  kernel TEXT NOT NULL CHECK (kernel IN ('candidate', 'baseline', 'incumbent', 'warm')),
  times_ns TEXT NOT NULL CHECK (json_valid(times_ns)),
  PRIMARY KEY (case_id, kernel)
) STRICT, WITHOUT ROWID;
INSERT INTO sample_series SELECT case_id, kernel, times_ns FROM sample_series_5;
DROP TABLE sample_series_5;

CREATE VIEW samples AS
SELECT s.case_id, s.kernel, j.key AS ordinal, j.value AS time_ns
FROM sample_series AS s, json_each(s.times_ns) AS j;

-- What the counters say of a binary at the shapes of a task, the newest only: equal machine code
-- has one profile, whichever sources it was compiled from. machine_code_digest: the build's digest
-- where the build has none.
CREATE TABLE profiles (
  id INTEGER PRIMARY KEY,
  machine_code_digest TEXT NOT NULL,
  task_id INTEGER NOT NULL REFERENCES tasks (id),
  device_name TEXT NOT NULL,
  content TEXT NOT NULL CHECK (json_valid(content)),
  recorded_at TEXT NOT NULL,
  UNIQUE (machine_code_digest, task_id, device_name)
) STRICT;

-- The one definition of which profile is an evaluation's.
CREATE VIEW evaluation_profiles AS
SELECT e.id AS evaluation_id, e.candidate_id, p.content, p.recorded_at
FROM evaluations AS e
JOIN candidates AS c ON c.id = e.candidate_id
JOIN builds AS b ON b.id = e.build_id
JOIN profiles AS p
  ON p.machine_code_digest = coalesce(nullif(b.machine_code_digest, ''), b.digest)
 AND p.task_id = c.task_id AND p.device_name = e.device_name;

DROP TRIGGER evaluation_joins_standings;
DROP TRIGGER evaluation_leaves_standings;
DROP VIEW leaderboard;
DROP VIEW run_leaderboard;
DROP VIEW ranked_evaluations;
DROP VIEW ranked_standings;
DROP VIEW eligible_evaluations;

-- The one definition of eligibility. speedup_low and speedup_high are here the speedup itself where
-- they are not known, and never exclude it.
CREATE VIEW eligible_evaluations AS
SELECT e.id AS evaluation_id, e.speedup,
       min(coalesce(e.speedup_low, e.speedup), e.speedup) AS speedup_low,
       max(coalesce(e.speedup_high, e.speedup), e.speedup) AS speedup_high,
       e.device, e.device_name, e.evaluator_version,
       c.id AS candidate_id, c.run_id, c.task_id, c.kernel_file_id
FROM evaluations AS e
JOIN candidates AS c ON c.id = e.candidate_id
WHERE e.ordinal = 0
  AND e.verdict = (SELECT number FROM verdicts WHERE name = 'correct')
  AND e.speedup > 0
  AND e.promoted = 1
  AND e.superseded_by IS NULL;

-- As in version 1, with the bounds, for which the view ranked_standings needs an index each.
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

CREATE TRIGGER evaluation_joins_standings AFTER INSERT ON evaluations WHEN NEW.ordinal = 0
BEGIN
  INSERT INTO leaderboard_groups (run_id, task_id, device, device_name, evaluator_version)
  SELECT NULL, task_id, device, device_name, evaluator_version
  FROM eligible_evaluations WHERE evaluation_id = NEW.id
  UNION ALL
  SELECT run_id, task_id, device, device_name, evaluator_version
  FROM eligible_evaluations WHERE evaluation_id = NEW.id
  ON CONFLICT DO NOTHING;
  INSERT INTO standings (group_id, kernel_file_id, evaluation_id, speedup, speedup_low,
                         speedup_high)
  SELECT g.id, x.kernel_file_id, x.evaluation_id, x.speedup, x.speedup_low, x.speedup_high
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
  INSERT INTO standings (group_id, kernel_file_id, evaluation_id, speedup, speedup_low,
                         speedup_high)
  SELECT g.id, x.kernel_file_id, x.evaluation_id, x.speedup, x.speedup_low, x.speedup_high
  FROM eligible_evaluations AS x
  JOIN leaderboard_groups AS g
    ON coalesce(g.run_id, 0) IN (0, x.run_id) AND g.task_id = x.task_id AND g.device = x.device
   AND g.device_name = x.device_name AND g.evaluator_version = x.evaluator_version
  WHERE x.kernel_file_id = (SELECT kernel_file_id FROM candidates WHERE id = NEW.candidate_id)
  ORDER BY x.evaluation_id
  ON CONFLICT DO NOTHING;
END;

-- The one definition of rank: 1 + the number of kernels of the group that are faster outside the
-- noise, that is, whose speedup_low is above the speedup_high of the row or of one with a higher
-- speedup. Without the latter a wide interval would lift a kernel over faster ones; with it ranks
-- never fall along the order by speedup, which the rows are in.
--
-- The least speedup_high so far only falls along that order. So each row counts only the kernels
-- whose speedup_low is between the least before it and its own, and the sum of these counts is all
-- of them; the first row has none before it (NULL), and nobody is faster. One walk along an index:
-- LIMIT ends it early.
CREATE VIEW ranked_standings AS
SELECT group_id, evaluation_id, speedup,
       1 + sum((SELECT count(*) FROM standings AS faster
                WHERE faster.group_id = s.group_id AND faster.speedup_low > s.speedup_high
                  AND faster.speedup_low <=
                      (SELECT ahead.speedup_high FROM standings AS ahead
                       WHERE ahead.group_id = s.group_id AND ahead.speedup_high >= s.speedup
                         AND (ahead.speedup > s.speedup
                              OR (ahead.speedup = s.speedup
                                  AND ahead.evaluation_id < s.evaluation_id))
                       ORDER BY ahead.speedup_high
                       LIMIT 1)))
         OVER (PARTITION BY group_id ORDER BY speedup DESC, evaluation_id
               ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS rank
FROM standings AS s;

-- As in version 5, with the bounds as they were measured. CROSS JOIN keeps the ranked rows in the
-- outer loop, so that LIMIT stops the ranking early.
CREATE VIEW ranked_evaluations AS
SELECT r.group_id, g.run_id AS board_run_id, t.name AS task, e.device, e.device_name, r.rank,
       r.speedup, e.score_ns, c.id AS candidate_id, e.id AS evaluation_id, c.run_id, c.origin,
       coalesce(m.model, '') AS model, v.parameters, e.isolation, k.digest, k.lines,
       e.started_at AS evaluated_at, e.evaluator_version, t.digest AS task_digest,
       coalesce(b.findings, '[]') AS findings,
       CASE WHEN m.served_from IS NULL THEN m.dollars ELSE 0.0 END AS dollars,
       e.speedup_low, e.speedup_high
FROM ranked_standings AS r
CROSS JOIN leaderboard_groups AS g ON g.id = r.group_id
CROSS JOIN evaluations AS e ON e.id = r.evaluation_id
CROSS JOIN variants AS v ON v.id = e.variant_id
CROSS JOIN candidates AS c ON c.id = e.candidate_id
CROSS JOIN tasks AS t ON t.id = c.task_id
CROSS JOIN kernel_files AS k ON k.id = c.kernel_file_id
LEFT JOIN model_calls AS m ON m.id = c.call_id
LEFT JOIN builds AS b ON b.id = e.build_id;

CREATE VIEW leaderboard AS SELECT * FROM ranked_evaluations WHERE board_run_id IS NULL;
CREATE VIEW run_leaderboard AS SELECT * FROM ranked_evaluations WHERE board_run_id IS NOT NULL;

DROP VIEW evaluation_overview;
CREATE VIEW evaluation_overview AS
SELECT e.id AS evaluation_id, r.name AS run, t.name AS task, e.candidate_id, e.ordinal,
       v.parameters, d.name AS verdict, s.name AS stage, e.detail, e.speedup, e.score_ns, e.device,
       e.device_name, e.isolation, b.compiler, e.build_from_cache, e.build_seconds, e.seconds,
       e.evaluator_version, e.started_at, e.superseded_by, e.speedup_low, e.speedup_high, e.race
FROM evaluations AS e
JOIN candidates AS c ON c.id = e.candidate_id
JOIN runs AS r ON r.id = c.run_id
JOIN tasks AS t ON t.id = c.task_id
JOIN variants AS v ON v.id = e.variant_id
JOIN verdicts AS d ON d.number = e.verdict
JOIN stages AS s ON s.number = e.stage
LEFT JOIN builds AS b ON b.id = e.build_id;

DROP VIEW case_overview;
CREATE VIEW case_overview AS
SELECT k.id AS case_id, k.evaluation_id, e.candidate_id, s.name AS stage, k.shape_set, k.shape_id,
       k.shape, k.seed, d.name AS verdict, k.detail, k.mismatch, k.max_error_ratio, k.median_ns,
       k.baseline_median_ns, k.median_low_ns, k.median_high_ns, k.speedup, k.speedup_low, k.speedup_high,
       k.conditions
FROM cases AS k
JOIN evaluations AS e ON e.id = k.evaluation_id
JOIN verdicts AS d ON d.number = k.verdict
JOIN stages AS s ON s.number = k.stage;
