-- Version 19. Answers that `winnow serve --judge` has taken back.

-- withdrawn: why the item's last answer but one does not count; NULL: it had none. withdrawn_place:
-- its place in the batch, which no later answer gets.
ALTER TABLE judge_items ADD COLUMN withdrawn TEXT;
ALTER TABLE judge_items ADD COLUMN withdrawn_place INTEGER;
