-- Version 11. Evaluations by request, the heats of tunings, and candidates with several parents.

-- request: the id of the request that asked for the evaluation; NULL: from before version 11, or
-- nothing was asked. turns: of a heat, which times choices of parameters in so many turns; NULL:
-- the evaluation was in full.
ALTER TABLE evaluations ADD COLUMN request TEXT;
ALTER TABLE evaluations ADD COLUMN turns INTEGER;
CREATE UNIQUE INDEX evaluations_by_request ON evaluations (request, variant_id)
  WHERE request IS NOT NULL;

-- The kernels that a candidate builds on. position 0 is candidates.parent_id.
CREATE TABLE candidate_parents (
  candidate_id INTEGER NOT NULL REFERENCES candidates (id),
  position INTEGER NOT NULL,
  parent_id INTEGER NOT NULL REFERENCES candidates (id),
  PRIMARY KEY (candidate_id, position)
) STRICT, WITHOUT ROWID;
INSERT INTO candidate_parents SELECT id, 0, parent_id FROM candidates WHERE parent_id IS NOT NULL;
