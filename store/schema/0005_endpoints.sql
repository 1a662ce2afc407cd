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
