-- Version 7. The seed of an evaluation's inputs, and rows that a board shows without a rank.

-- The bits of an unsigned 64-bit number; NULL: unknown, or no input was drawn.
ALTER TABLE evaluations ADD COLUMN seed INTEGER;
-- Why boards must not rank the evaluation: its seed was given, ...; '': boards may.
ALTER TABLE evaluations ADD COLUMN unranked TEXT NOT NULL DEFAULT '';

-- The same for a whole group. Up to evaluator 6 the same inputs were timed repeatedly, so a kernel
-- could answer from memory.
ALTER TABLE leaderboard_groups ADD COLUMN unranked TEXT NOT NULL DEFAULT '';
UPDATE leaderboard_groups SET unranked = 'evaluator ' || evaluator_version
WHERE evaluator_version < 7;
DROP INDEX leaderboard_groups_key;
CREATE UNIQUE INDEX leaderboard_groups_key ON leaderboard_groups
  (coalesce(run_id, 0), task_id, device, device_name, evaluator_version, unranked);
