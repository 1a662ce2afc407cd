-- Version 24. Runs that clients of `winnow serve --judge` have declared: searches of their own.

-- server_run_id: the run of the server that judges for it. name: as its owner calls it.
CREATE TABLE declared_runs (
  run_id INTEGER PRIMARY KEY REFERENCES runs (id),
  server_run_id INTEGER NOT NULL REFERENCES runs (id),
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  UNIQUE (server_run_id, owner, name)
) STRICT;

-- The candidate of a call of such a run. job: what judges its kernel, also for other calls with
-- this kernel. judged_at: when the candidate got its evaluation; NULL: it has none yet.
CREATE TABLE declared_calls (
  candidate_id INTEGER PRIMARY KEY REFERENCES candidates (id),
  run_id INTEGER NOT NULL REFERENCES declared_runs (run_id),
  job TEXT NOT NULL REFERENCES judge_jobs (job),
  judged_at TEXT
) STRICT;
CREATE INDEX declared_calls_by_job ON declared_calls (job);
CREATE INDEX declared_calls_by_run ON declared_calls (run_id);
