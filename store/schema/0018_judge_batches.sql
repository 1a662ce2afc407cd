-- Version 18. What a trainer's request says about all of its items.

-- priority: jobs of a higher one go before the same owner's others. metadata: JSON as the client
-- sent it; NULL: none. content, seed: the digest of what the request asks, and the seed of its
-- inputs, so that the same request gets the same seed; NULL: each evaluation draws its own seed.
CREATE TABLE judge_batches (
  batch TEXT PRIMARY KEY,
  priority INTEGER NOT NULL,
  metadata TEXT,
  content TEXT,
  seed INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX judge_batches_by_content ON judge_batches (content) WHERE content IS NOT NULL;

-- cached: the store had the evaluation when the item came.
ALTER TABLE judge_items ADD COLUMN cached INTEGER NOT NULL DEFAULT 0;
