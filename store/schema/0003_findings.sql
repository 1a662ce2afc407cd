-- Version 3. Findings in the machine code, and the time of the compiler library.

-- An array of {"kind", "detail"}: see tasks/result/finding.h.
ALTER TABLE builds ADD COLUMN findings TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(findings));
-- Time in the compiler library, and time to load it; NULL: not known.
ALTER TABLE builds ADD COLUMN compiler_ms REAL;
ALTER TABLE builds ADD COLUMN load_ms REAL;
