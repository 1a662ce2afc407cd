-- Version 14. How right the forecasts of speed were (docs/roles.md).

-- A forecast of the role `forecaster` beside what was measured. The candidate, and the chance of
-- each bin, are in `advice`. ratio: the measured speed as a multiple of the parent's. score: the
-- ranked probability score of the forecast, 0 (best) to 1. model_free: the score of the forecast
-- that asks no model, with what had been measured before the call. chance: that the forecaster gave
-- the candidate of beating the best kernel. is_audit: the candidate was measured although its
-- forecast was improbable. beats_best: it is faster, beyond the noise, than the kernel that it
-- raced against.
CREATE TABLE forecast_scores (
  call_id INTEGER PRIMARY KEY REFERENCES advice (call_id),
  ratio REAL NOT NULL,
  score REAL NOT NULL,
  model_free REAL NOT NULL,
  chance REAL NOT NULL,
  is_audit INTEGER NOT NULL CHECK (is_audit IN (0, 1)),
  beats_best INTEGER NOT NULL CHECK (beats_best IN (0, 1))
) STRICT;
