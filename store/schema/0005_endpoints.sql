-- Version 5. What a model call cost, what it may have cost, and where its reply came from.

-- sha256 of the request without its key: equal for identical requests. '': before version 5.
ALTER TABLE model_calls ADD COLUMN request_digest TEXT NOT NULL DEFAULT '';
CREATE INDEX model_calls_by_request ON model_calls (request_digest) WHERE request_digest <> '';
-- Of prompt_tokens: written to the provider's cache.
ALTER TABLE model_calls ADD COLUMN cache_write_tokens INTEGER;
-- US dollars per million tokens that `dollars` was computed with; NULL: unknown, or the endpoint
-- itself said what the call cost.
ALTER TABLE model_calls ADD COLUMN price TEXT CHECK (price IS NULL OR json_valid(price));
-- The provider's name for the answer.
ALTER TABLE model_calls ADD COLUMN request_id TEXT;
ALTER TABLE model_calls ADD COLUMN first_token_seconds REAL;
ALTER TABLE model_calls ADD COLUMN attempts INTEGER;
-- 1: the first reply broke its schema, and a second one was asked for.
ALTER TABLE model_calls ADD COLUMN repaired INTEGER CHECK (repaired IN (0, 1));
-- The call whose recorded reply this is; nothing was paid for it again.
ALTER TABLE model_calls ADD COLUMN served_from INTEGER REFERENCES model_calls (id);
-- What the budget held back when the call was last sent; NULL: it was not sent, or is known to have
-- cost nothing. While a call is pending, that much may have been billed.
ALTER TABLE model_calls ADD COLUMN reserved_tokens INTEGER;
ALTER TABLE model_calls ADD COLUMN reserved_dollars REAL;
-- The sum of that over earlier times it was sent and cut off before an answer came.
ALTER TABLE model_calls ADD COLUMN lost_sendings INTEGER NOT NULL DEFAULT 0;
ALTER TABLE model_calls ADD COLUMN lost_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE model_calls ADD COLUMN lost_dollars REAL NOT NULL DEFAULT 0;

-- Every call with what was paid for it. paid_*: 0 for a reply from the record. paid_dollars NULL:
-- unknown. unconfirmed_*: sent, never answered, perhaps billed.
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

-- Every candidate that a model wrote with the call it came from. dollars NULL: unknown.
CREATE VIEW candidate_costs AS
SELECT c.id AS candidate_id, x.run_id, x.run, x.task, x.call_id, x.key, x.model, x.served_from,
       x.paid_prompt_tokens AS prompt_tokens, x.paid_completion_tokens AS completion_tokens,
       x.paid_dollars AS dollars
FROM candidates AS c
JOIN call_costs AS x ON x.call_id = c.call_id;

DROP VIEW run_overview;
-- dollars is a lower bound where calls_without_price or unconfirmed_sendings is not 0.
CREATE VIEW run_overview AS
SELECT r.id AS run_id, r.name AS run, r.status, r.started_at, r.finished_at,
       (SELECT count(*) FROM candidates WHERE run_id = r.id) AS candidates,
       count(x.call_id) AS calls,
       count(x.served_from) AS calls_from_record,
       total(x.paid_prompt_tokens) AS prompt_tokens,
       total(x.paid_completion_tokens) AS completion_tokens,
       sum(x.paid_dollars) AS dollars,
       coalesce(sum(x.price_unknown), 0) AS calls_without_price,
       coalesce(sum(x.unconfirmed_sendings), 0) AS unconfirmed_sendings,
       coalesce(sum(x.unconfirmed_tokens), 0) AS unconfirmed_tokens,
       total(x.unconfirmed_dollars) AS unconfirmed_dollars
FROM runs AS r
LEFT JOIN call_costs AS x ON x.run_id = r.id
GROUP BY r.id;

DROP VIEW leaderboard;
DROP VIEW run_leaderboard;
DROP VIEW ranked_evaluations;

-- As in version 3, with what the candidate's reply cost.
CREATE VIEW ranked_evaluations AS
SELECT r.group_id, g.run_id AS board_run_id, t.name AS task, e.device, e.device_name, r.rank,
       r.speedup, e.score_ns, c.id AS candidate_id, e.id AS evaluation_id, c.run_id, c.origin,
       coalesce(m.model, '') AS model, v.parameters, e.isolation, k.digest, k.lines,
       e.started_at AS evaluated_at, e.evaluator_version, t.digest AS task_digest,
       coalesce(b.findings, '[]') AS findings,
       CASE WHEN m.served_from IS NULL THEN m.dollars ELSE 0.0 END AS dollars
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
