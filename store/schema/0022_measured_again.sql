-- Version 22. The command that measured a kernel because somebody asked for it: 'profile' or
-- 'race'. Empty: a run, `winnow eval` or `winnow reverify` judged the kernel.
ALTER TABLE evaluations ADD COLUMN asked_by TEXT NOT NULL DEFAULT '';
