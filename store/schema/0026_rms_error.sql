-- Version 26. How far the errors of a case are from the second of its two limits.

-- rms_error_ratio: the rms of all errors divided by its limit; NULL: no error, compared exactly, or
-- judged by an earlier version.
ALTER TABLE cases ADD COLUMN rms_error_ratio REAL;
