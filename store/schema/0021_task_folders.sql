-- Version 21. Where a task lies that is not in the catalogue, so that commands find the task by the
-- name that a board shows. The seal says that this user has stored the folder on this machine:
-- a store of another place names no folders. Empty: the task is of the catalogue, or an earlier
-- version stored it.
ALTER TABLE tasks ADD COLUMN folder TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN folder_seal TEXT NOT NULL DEFAULT '';
