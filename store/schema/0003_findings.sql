-- Version 3. What was seen in the machine code, and how long the compiler library took.

-- Objects {"kind", "detail"}: tasks/result/finding.h.
ALTER TABLE builds ADD COLUMN findings TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(findings));
-- In the compiler library, and to load it; NULL: not known.
ALTER TABLE builds ADD COLUMN compiler_ms REAL;
ALTER TABLE builds ADD COLUMN load_ms REAL;
