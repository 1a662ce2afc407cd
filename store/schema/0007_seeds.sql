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
