-- Version 7. Which seed the inputs of an evaluation were drawn from, and who is on a board without a
-- rank.

-- The bits of an unsigned 64-bit number; NULL: not known, or nothing was drawn.
ALTER TABLE evaluations ADD COLUMN seed INTEGER;
-- Why no board may rank it, in words: its seed was given, ...; '': boards may.
ALTER TABLE evaluations ADD COLUMN unranked TEXT NOT NULL DEFAULT '';

-- The same of a whole group. Up to evaluator 6 the same inputs were timed again and again, so that a
-- time could be that of an answer that was remembered.
ALTER TABLE leaderboard_groups ADD COLUMN unranked TEXT NOT NULL DEFAULT '';
UPDATE leaderboard_groups SET unranked = 'evaluator ' || evaluator_version
WHERE evaluator_version < 7;
DROP INDEX leaderboard_groups_key;
CREATE UNIQUE INDEX leaderboard_groups_key ON leaderboard_groups
  (coalesce(run_id, 0), task_id, device, device_name, evaluator_version, unranked);

DROP TRIGGER evaluation_joins_standings;
DROP TRIGGER evaluation_leaves_standings;
DROP VIEW leaderboard;
DROP VIEW run_leaderboard;
DROP VIEW ranked_evaluations;
DROP VIEW ranked_standings;
DROP VIEW eligible_evaluations;

-- The one definition of eligibility, and of what is shown without a rank. The bounds are as in
-- version 6.
CREATE VIEW eligible_evaluations AS
SELECT e.id AS evaluation_id, e.speedup,
       min(coalesce(e.speedup_low, e.speedup), e.speedup) AS speedup_low,
       max(coalesce(e.speedup_high, e.speedup), e.speedup) AS speedup_high,
       e.device, e.device_name, e.evaluator_version,
       CASE WHEN e.evaluator_version < 7 THEN 'evaluator ' || e.evaluator_version
            ELSE e.unranked END AS unranked,
       c.id AS candidate_id, c.run_id, c.task_id, c.kernel_file_id
FROM evaluations AS e
JOIN candidates AS c ON c.id = e.candidate_id
WHERE e.ordinal = 0
  AND e.verdict = (SELECT number FROM verdicts WHERE name = 'correct')
  AND e.speedup > 0
  AND e.promoted = 1
  AND e.superseded_by IS NULL;

CREATE TRIGGER evaluation_joins_standings AFTER INSERT ON evaluations WHEN NEW.ordinal = 0
BEGIN
  INSERT INTO leaderboard_groups (run_id, task_id, device, device_name, evaluator_version,
                                  unranked)
  SELECT NULL, task_id, device, device_name, evaluator_version, unranked
  FROM eligible_evaluations WHERE evaluation_id = NEW.id
  UNION ALL
  SELECT run_id, task_id, device, device_name, evaluator_version, unranked
  FROM eligible_evaluations WHERE evaluation_id = NEW.id
  ON CONFLICT DO NOTHING;
  INSERT INTO standings (group_id, kernel_file_id, evaluation_id, speedup, speedup_low,
                         speedup_high)
  SELECT g.id, x.kernel_file_id, x.evaluation_id, x.speedup, x.speedup_low, x.speedup_high
  FROM eligible_evaluations AS x
  JOIN leaderboard_groups AS g
    ON coalesce(g.run_id, 0) IN (0, x.run_id) AND g.task_id = x.task_id AND g.device = x.device
   AND g.device_name = x.device_name AND g.evaluator_version = x.evaluator_version
   AND g.unranked = x.unranked
  WHERE x.evaluation_id = NEW.id
  ON CONFLICT DO NOTHING;
END;

-- As in version 1.
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
   AND g.unranked = x.unranked
  WHERE x.kernel_file_id = (SELECT kernel_file_id FROM candidates WHERE id = NEW.candidate_id)
  ORDER BY x.evaluation_id
  ON CONFLICT DO NOTHING;
END;

-- The one definition of rank, as in version 6. NULL: not ranked.
CREATE VIEW ranked_standings AS
SELECT group_id, evaluation_id, speedup,
       CASE WHEN (SELECT unranked FROM leaderboard_groups WHERE id = s.group_id) = '' THEN
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
               ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
       END AS rank
FROM standings AS s;

-- As in version 6. A kernel without a rank is left out where it has one from another evaluation.
CREATE VIEW ranked_evaluations AS
SELECT r.group_id, g.run_id AS board_run_id, t.name AS task, e.device, e.device_name, r.rank,
       r.speedup, e.score_ns, c.id AS candidate_id, e.id AS evaluation_id, c.run_id, c.origin,
       coalesce(m.model, '') AS model, v.parameters, e.isolation, k.digest, k.lines,
       e.started_at AS evaluated_at, e.evaluator_version, t.digest AS task_digest,
       coalesce(b.findings, '[]') AS findings,
       CASE WHEN m.served_from IS NULL THEN m.dollars ELSE 0.0 END AS dollars,
       e.speedup_low, e.speedup_high, g.unranked
FROM ranked_standings AS r
CROSS JOIN leaderboard_groups AS g ON g.id = r.group_id
CROSS JOIN evaluations AS e ON e.id = r.evaluation_id
CROSS JOIN variants AS v ON v.id = e.variant_id
CROSS JOIN candidates AS c ON c.id = e.candidate_id
CROSS JOIN tasks AS t ON t.id = c.task_id
CROSS JOIN kernel_files AS k ON k.id = c.kernel_file_id
LEFT JOIN model_calls AS m ON m.id = c.call_id
LEFT JOIN builds AS b ON b.id = e.build_id
WHERE g.unranked = '' OR NOT EXISTS (
  SELECT 1 FROM leaderboard_groups AS h
  JOIN standings AS better ON better.group_id = h.id AND better.kernel_file_id = c.kernel_file_id
  WHERE h.unranked = '' AND coalesce(h.run_id, 0) = coalesce(g.run_id, 0)
    AND h.task_id = g.task_id AND h.device = g.device AND h.device_name = g.device_name);

CREATE VIEW leaderboard AS SELECT * FROM ranked_evaluations WHERE board_run_id IS NULL;
CREATE VIEW run_leaderboard AS SELECT * FROM ranked_evaluations WHERE board_run_id IS NOT NULL;

DROP VIEW evaluation_overview;
CREATE VIEW evaluation_overview AS
SELECT e.id AS evaluation_id, r.name AS run, t.name AS task, e.candidate_id, e.ordinal,
       v.parameters, d.name AS verdict, s.name AS stage, e.detail, e.speedup, e.score_ns, e.device,
       e.device_name, e.isolation, b.compiler, e.build_from_cache, e.build_seconds, e.seconds,
       e.evaluator_version, e.started_at, e.superseded_by, e.speedup_low, e.speedup_high, e.race,
       CASE WHEN e.seed IS NOT NULL THEN printf('%u', e.seed) END AS seed, e.unranked
FROM evaluations AS e
JOIN candidates AS c ON c.id = e.candidate_id
JOIN runs AS r ON r.id = c.run_id
JOIN tasks AS t ON t.id = c.task_id
JOIN variants AS v ON v.id = e.variant_id
JOIN verdicts AS d ON d.number = e.verdict
JOIN stages AS s ON s.number = e.stage
LEFT JOIN builds AS b ON b.id = e.build_id;
