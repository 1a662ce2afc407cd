-- Version 5. The cost and possible cost of a model call, and the source of its reply.

-- sha256 of the request without its key: equal for identical requests. '': before version 5.
ALTER TABLE model_calls ADD COLUMN request_digest TEXT NOT NULL DEFAULT '';
CREATE INDEX model_calls_by_request ON model_calls (request_digest) WHERE request_digest <> '';
-- The part of prompt_tokens that was written to the provider's cache.
ALTER TABLE model_calls ADD COLUMN cache_write_tokens INTEGER;
-- The prices behind `dollars`, in US dollars per million tokens. NULL: unknown, or the endpoint
-- itself reported the cost.
ALTER TABLE model_calls ADD COLUMN price TEXT CHECK (price IS NULL OR json_valid(price));
-- The provider's id of the answer.
ALTER TABLE model_calls ADD COLUMN request_id TEXT;
ALTER TABLE model_calls ADD COLUMN first_token_seconds REAL;
ALTER TABLE model_calls ADD COLUMN attempts INTEGER;
-- 1: the first reply violated its schema, and a second one was requested.
ALTER TABLE model_calls ADD COLUMN repaired INTEGER CHECK (repaired IN (0, 1));
-- The call with the original reply, which was not paid for again.
ALTER TABLE model_calls ADD COLUMN served_from INTEGER REFERENCES model_calls (id);
-- The budget reserved when the call was last sent. NULL: the call was not sent, or is known to have
-- been free. A pending call may have been billed up to this amount.
ALTER TABLE model_calls ADD COLUMN reserved_tokens INTEGER;
ALTER TABLE model_calls ADD COLUMN reserved_dollars REAL;
-- The sums over earlier sendings that were interrupted before an answer came.
ALTER TABLE model_calls ADD COLUMN lost_sendings INTEGER NOT NULL DEFAULT 0;
ALTER TABLE model_calls ADD COLUMN lost_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE model_calls ADD COLUMN lost_dollars REAL NOT NULL DEFAULT 0;
