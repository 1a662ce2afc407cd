-- All views and triggers. Before a migration all of them are dropped, and afterwards recreated, so
-- a numbered file must not use them. A change of a view needs a new numbered file, which may
-- consist of a comment.

-- The only definition of eligibility, and of rows without a rank. A speedup without bounds is its
-- own lower and upper bound.
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

-- A superseded evaluation is removed, and the next one of the same kernel file takes its place.
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

-- The newest sitting of each board. The board over all runs takes the newest of all sittings; the
-- board of a run takes the newest sitting of that run. The group of unranked kernels has none.
CREATE VIEW board_sittings AS
SELECT g.id AS group_id,
       (SELECT max(s.id) FROM sittings AS s
        WHERE s.task_id = g.task_id AND s.device_name = g.device_name
          AND s.evaluator_version = g.evaluator_version AND s.device = g.device
          AND (g.run_id IS NULL OR s.run_id = g.run_id)) AS sitting_id
FROM leaderboard_groups AS g
WHERE g.unranked = '';

-- The rows of a board in the order of its newest sitting. CROSS JOIN keeps that order. If a kernel
-- has left the board, the kernels behind it move up. held_out_speedup: as final_held_out().
CREATE VIEW finalists AS
SELECT b.group_id, b.sitting_id, p.evaluation_id,
       1 + (SELECT count(*) FROM sitting_rows AS before
            CROSS JOIN standings AS there
              ON there.group_id = b.group_id AND there.kernel_file_id = before.kernel_file_id
            WHERE before.sitting_id = b.sitting_id AND before.rank < f.rank) AS rank,
       f.speedup, f.speedup_low, f.speedup_high, f.score_ns,
       iif(instr(f.times, '"held_out/') > 0, f.held_out_speedup, NULL) AS held_out_speedup
FROM board_sittings AS b
CROSS JOIN sitting_rows AS f ON f.sitting_id = b.sitting_id AND f.rank IS NOT NULL
CROSS JOIN standings AS p ON p.group_id = b.group_id AND p.kernel_file_id = f.kernel_file_id
CROSS JOIN evaluations AS e ON e.id = p.evaluation_id AND e.kernel = f.kernel;

-- The only definition of rank on a board without a sitting: 1 + the number of kernels of the group
-- that are faster beyond noise. A kernel is faster beyond noise if its speedup_low is above the
-- speedup_high of the row, or above that of any row with a higher speedup. The second condition
-- prevents a wide interval from lifting a kernel over faster ones. With it, ranks never decrease in
-- the order of falling speedup, which is the order of the rows. NULL: not ranked.
--
-- The computation: in that order, the minimum of speedup_high so far can only fall. So each row
-- counts only the kernels whose speedup_low lies between the previous minimum and its own
-- speedup_high. The running sum of these counts is the number of faster kernels. The first row has
-- no previous minimum (NULL), and no kernel is faster. This is one pass along an index, and LIMIT
-- ends it early.
CREATE VIEW standings_without_final AS
SELECT s.group_id, s.evaluation_id, s.speedup, s.kernel_file_id, b.sitting_id,
       CASE WHEN b.group_id IS NOT NULL AND b.sitting_id IS NULL THEN
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
         OVER (PARTITION BY s.group_id ORDER BY s.speedup DESC, s.evaluation_id
               ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
       END AS rank
FROM standings AS s
LEFT JOIN board_sittings AS b ON b.group_id = s.group_id;

-- The rows of a board in their order: first the rows that its sitting ordered, then the others.
-- After a sitting the others have no rank. Their intervals are as measured, widened by the
-- variation of the baseline's time between evaluations if known. `flag` says why a row was not in
-- the final.
CREATE VIEW ranked_standings AS
SELECT f.group_id, f.evaluation_id, f.speedup, f.rank, f.speedup_low, f.speedup_high, f.score_ns,
       f.held_out_speedup, f.sitting_id, '' AS flag
FROM finalists AS f
UNION ALL
SELECT r.group_id, r.evaluation_id, r.speedup, r.rank, e.speedup_low / coalesce(s.widening, 1),
       e.speedup_high * coalesce(s.widening, 1), e.score_ns, NULL, NULL,
       coalesce((SELECT 'lost its place in the final: ' || v.name
                 FROM sitting_rows AS f
                 JOIN verdicts AS v ON v.number = f.verdict
                 WHERE f.sitting_id = r.sitting_id AND f.kernel = e.kernel AND f.rank IS NULL),
                'not in the final')
FROM standings_without_final AS r
CROSS JOIN evaluations AS e ON e.id = r.evaluation_id
LEFT JOIN sittings AS s ON s.id = r.sitting_id
WHERE NOT EXISTS (SELECT 1 FROM sitting_rows AS f
                  WHERE f.sitting_id = r.sitting_id AND f.kernel = e.kernel
                    AND f.rank IS NOT NULL);

-- CROSS JOIN keeps the ranked rows in the outer loop, so that LIMIT stops the ranking early. An
-- unranked row is omitted if its kernel has a rank from another evaluation.
CREATE VIEW ranked_evaluations AS
SELECT r.group_id, g.run_id AS board_run_id, t.name AS task, e.device, e.device_name, r.rank,
       r.speedup, r.score_ns, c.id AS candidate_id, e.id AS evaluation_id, c.run_id, c.origin,
       coalesce(m.model, '') AS model, v.parameters, e.isolation, k.digest, k.lines,
       e.started_at AS evaluated_at, e.evaluator_version, t.digest AS task_digest,
       coalesce(b.findings, '[]') AS findings,
       CASE WHEN m.served_from IS NULL THEN m.dollars ELSE 0.0 END AS dollars,
       r.speedup_low, r.speedup_high,
       CASE WHEN g.unranked <> '' THEN g.unranked WHEN r.rank IS NULL THEN r.flag ELSE '' END
         AS unranked,
       CASE WHEN g.unranked <> '' THEN g.unranked ELSE r.flag END AS flag,
       r.held_out_speedup, r.sitting_id, e.kernel, g.unranked = '' AS comparable, u.name AS run
FROM ranked_standings AS r
CROSS JOIN leaderboard_groups AS g ON g.id = r.group_id
CROSS JOIN evaluations AS e ON e.id = r.evaluation_id
CROSS JOIN variants AS v ON v.id = e.variant_id
CROSS JOIN candidates AS c ON c.id = e.candidate_id
CROSS JOIN runs AS u ON u.id = c.run_id
CROSS JOIN tasks AS t ON t.id = c.task_id
CROSS JOIN kernel_files AS k ON k.id = c.kernel_file_id
LEFT JOIN model_calls AS m ON m.id = c.call_id
LEFT JOIN builds AS b ON b.id = e.build_id
WHERE g.unranked = '' OR NOT EXISTS (
  SELECT 1 FROM leaderboard_groups AS h
  JOIN standings AS better ON better.group_id = h.id AND better.kernel_file_id = c.kernel_file_id
  WHERE h.unranked = '' AND coalesce(h.run_id, 0) = coalesce(g.run_id, 0)
    AND h.task_id = g.task_id AND h.device = g.device AND h.device_name = g.device_name);

-- The boards over all runs and within each run. tied: another kernel of the board has the same
-- rank.
CREATE VIEW leaderboard AS
SELECT *, CASE WHEN rank IS NOT NULL THEN count(*) OVER (PARTITION BY group_id, rank) > 1 END AS tied
FROM ranked_evaluations WHERE board_run_id IS NULL;
CREATE VIEW run_leaderboard AS
SELECT *, CASE WHEN rank IS NOT NULL THEN count(*) OVER (PARTITION BY group_id, rank) > 1 END AS tied
FROM ranked_evaluations WHERE board_run_id IS NOT NULL;

-- Every race between two kernels, also obsolete ones. `ratio`: time of `rival` / time of `kernel`;
-- above 1 `kernel` is faster, NULL: not known. sitting_id NULL: the race was part of an evaluation.
CREATE VIEW all_races AS
SELECT c.task_id, e.device_name, e.evaluator_version, e.kernel,
       json_extract(e.race, '$.rival') AS rival, json_extract(e.race, '$.verdict') AS verdict,
       json_extract(e.race, '$.ratio') AS ratio, json_extract(e.race, '$.bounds[0]') AS ratio_low,
       json_extract(e.race, '$.bounds[1]') AS ratio_high, e.started_at AS raced_at,
       NULL AS sitting_id
FROM evaluations AS e
JOIN candidates AS c ON c.id = e.candidate_id
WHERE e.race IS NOT NULL AND e.kernel <> json_extract(e.race, '$.rival')
UNION ALL
SELECT s.task_id, s.device_name, s.evaluator_version, f.kernel,
       json_extract(r.value, '$.rival'), json_extract(r.value, '$.verdict'),
       json_extract(r.value, '$.ratio'), json_extract(r.value, '$.bounds[0]'),
       json_extract(r.value, '$.bounds[1]'), s.started_at, s.id
FROM sittings AS s
JOIN sitting_rows AS f ON f.sitting_id = s.id, json_each(f.races) AS r;

-- The newest race of each pair of kernels, which is the one that counts.
CREATE VIEW races AS
SELECT task_id, device_name, evaluator_version, kernel, rival, verdict, ratio, ratio_low,
       ratio_high, raced_at, sitting_id
FROM (SELECT *, row_number() OVER (
        PARTITION BY task_id, device_name, evaluator_version, min(kernel, rival),
                     max(kernel, rival)
        ORDER BY sitting_id IS NOT NULL DESC, sitting_id DESC, raced_at DESC, kernel) AS newest
      FROM all_races)
WHERE newest = 1;

-- Every evaluation in readable form, variants included.
CREATE VIEW evaluation_overview AS
SELECT e.id AS evaluation_id, r.name AS run, t.name AS task, e.candidate_id, e.ordinal,
       v.parameters, d.name AS verdict, s.name AS stage, e.detail, e.speedup, e.score_ns, e.device,
       e.device_name, e.isolation, b.compiler, e.build_from_cache, e.build_seconds, e.seconds,
       e.evaluator_version, e.started_at, e.superseded_by, e.speedup_low, e.speedup_high, e.race,
       CASE WHEN e.seed IS NOT NULL THEN printf('%u', e.seed) END AS seed, e.unranked, e.request,
       e.turns, e.device_uuid, e.driver, e.worker
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
       m.model, c.call_key, c.parent_id,
       (SELECT json_group_array(parent_id)
        FROM (SELECT p.parent_id FROM candidate_parents AS p WHERE p.candidate_id = c.id
              ORDER BY p.position)) AS parents, coalesce(d.name, 'not_judged') AS verdict,
       s.name AS stage, e.detail, e.speedup, e.score_ns, v.parameters, e.device, e.device_name,
       e.isolation, k.digest, k.lines, c.created_at, e.started_at AS evaluated_at, e.device_uuid,
       e.driver, e.worker
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
       k.shape, printf('%u', k.seed) AS seed, d.name AS verdict, k.detail, k.mismatch, k.max_error_ratio, k.rms_error_ratio,
       k.median_ns,
       k.baseline_median_ns, k.median_low_ns, k.median_high_ns, k.speedup, k.speedup_low, k.speedup_high,
       k.conditions
FROM cases AS k
JOIN evaluations AS e ON e.id = k.evaluation_id
JOIN verdicts AS d ON d.number = k.verdict
JOIN stages AS s ON s.number = k.stage;

CREATE VIEW samples AS
SELECT s.case_id, s.kernel, j.key AS ordinal, j.value AS time_ns
FROM sample_series AS s, json_each(s.times_ns) AS j;

-- The only definition of the profile of an evaluation.
CREATE VIEW evaluation_profiles AS
SELECT e.id AS evaluation_id, e.candidate_id, p.content, p.recorded_at
FROM evaluations AS e
JOIN candidates AS c ON c.id = e.candidate_id
JOIN builds AS b ON b.id = e.build_id
JOIN profiles AS p
  ON p.machine_code_digest = coalesce(nullif(b.machine_code_digest, ''), b.digest)
 AND p.task_id = c.task_id AND p.device_name = e.device_name;

CREATE VIEW call_messages AS
SELECT m.id AS call_id, m.run_id, m.key, p.position,
       json_extract(m.request, '$.messages[' || p.position || '].role') AS role, t.text
FROM model_calls AS m
JOIN call_prompts AS p ON p.call_id = m.id
JOIN prompts AS t ON t.id = p.prompt_id;

-- Every call with its cost. paid_*: 0 for a reply from a record. paid_dollars NULL: unknown.
-- unconfirmed_*: sent but not answered, possibly billed.
CREATE VIEW call_costs AS
SELECT m.id AS call_id, m.run_id, r.name AS run, t.name AS task, m.key, m.status, m.endpoint,
       coalesce(m.answering_model, m.model) AS model, m.served_from,
       CASE WHEN m.served_from IS NULL THEN coalesce(m.prompt_tokens, 0) ELSE 0 END
         AS paid_prompt_tokens,
       CASE WHEN m.served_from IS NULL THEN coalesce(m.completion_tokens, 0) ELSE 0 END
         AS paid_completion_tokens,
       CASE WHEN m.served_from IS NULL THEN m.dollars ELSE 0.0 END AS paid_dollars,
       m.status <> 'pending' AND m.served_from IS NULL AND m.dollars IS NULL AS price_unknown,
       json_extract(m.price, '$.source') AS price_source,
       m.lost_sendings + (m.status = 'pending' AND m.reserved_tokens IS NOT NULL)
         AS unconfirmed_sendings,
       m.lost_tokens + CASE WHEN m.status = 'pending' THEN coalesce(m.reserved_tokens, 0) ELSE 0 END
         AS unconfirmed_tokens,
       m.lost_dollars
         + CASE WHEN m.status = 'pending' THEN coalesce(m.reserved_dollars, 0.0) ELSE 0.0 END
         AS unconfirmed_dollars
FROM model_calls AS m
JOIN runs AS r ON r.id = m.run_id
JOIN tasks AS t ON t.id = m.task_id;

-- Every candidate from a model, with its call. dollars NULL: unknown.
CREATE VIEW candidate_costs AS
SELECT c.id AS candidate_id, x.run_id, x.run, x.task, x.call_id, x.key, x.model, x.served_from,
       x.paid_prompt_tokens AS prompt_tokens, x.paid_completion_tokens AS completion_tokens,
       x.paid_dollars AS dollars
FROM candidates AS c
JOIN call_costs AS x ON x.call_id = c.call_id;

-- calls: those that were answered. dollars is a lower bound if calls_without_price or
-- unconfirmed_sendings is not 0.
CREATE VIEW run_overview AS
SELECT r.id AS run_id, r.name AS run, r.status, r.started_at, r.finished_at,
       (SELECT count(*) FROM candidates WHERE run_id = r.id) AS candidates,
       count(nullif(x.status, 'pending')) AS calls,
       count(x.served_from) AS calls_from_record,
       coalesce(sum(x.paid_prompt_tokens), 0) AS prompt_tokens,
       coalesce(sum(x.paid_completion_tokens), 0) AS completion_tokens,
       sum(x.paid_dollars) AS dollars,
       coalesce(sum(x.price_unknown), 0) AS calls_without_price,
       coalesce(sum(x.unconfirmed_sendings), 0) AS unconfirmed_sendings,
       coalesce(sum(x.unconfirmed_tokens), 0) AS unconfirmed_tokens,
       total(x.unconfirmed_dollars) AS unconfirmed_dollars
FROM runs AS r
LEFT JOIN call_costs AS x ON x.run_id = r.id
GROUP BY r.id;

-- The answered calls of each role. scored, correct: its predictions that were compared with a
-- measurement, and those of them that were right.
CREATE VIEW role_overview AS
SELECT x.run_id, x.run, x.task, a.role, count(*) AS calls, count(a.content) AS useful,
       sum(x.paid_prompt_tokens) AS prompt_tokens, sum(x.paid_completion_tokens) AS completion_tokens,
       sum(x.paid_dollars) AS dollars, sum(x.price_unknown) AS calls_without_price,
       sum((SELECT count(*) FROM advice_scores AS s WHERE s.call_id = a.call_id)) AS scored,
       sum((SELECT total(s.is_right) FROM advice_scores AS s WHERE s.call_id = a.call_id)) AS correct
FROM advice AS a
JOIN call_costs AS x ON x.call_id = a.call_id
GROUP BY x.run_id, x.task, a.role;

-- Each prediction of a role beside what was measured.
CREATE VIEW advice_overview AS
SELECT m.run_id, m.key, a.role, a.candidate_id AS about, a.content, a.problem,
       s.candidate_id AS measured, s.name, s.predicted, s.actual, s.is_right
FROM advice AS a
JOIN model_calls AS m ON m.id = a.call_id
LEFT JOIN advice_scores AS s ON s.call_id = a.call_id;

-- Each useful forecast of a candidate's speed. is_left_out: no device has seen the candidate. The
-- other columns are NULL until the candidate is measured.
CREATE VIEW forecast_overview AS
SELECT m.run_id, t.name AS task, m.key, a.candidate_id, a.content,
       EXISTS (SELECT 1 FROM evaluations AS e WHERE e.candidate_id = a.candidate_id
               AND e.ordinal = 0 AND e.verdict = 0) AS is_left_out,
       s.ratio, s.score, s.model_free, s.chance, s.is_audit, s.beats_best
FROM advice AS a
JOIN model_calls AS m ON m.id = a.call_id
JOIN tasks AS t ON t.id = m.task_id
LEFT JOIN forecast_scores AS s ON s.call_id = a.call_id
WHERE a.role = 'forecaster' AND a.content IS NOT NULL;
