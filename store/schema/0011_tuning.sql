-- Version 11. Evaluations by request, and the heats of tunings.

-- request: the id of the request that asked for the evaluation; NULL: from before version 11, or
-- nothing was asked. turns: of a heat, which times choices of parameters in so many turns; NULL:
-- the evaluation was in full.
ALTER TABLE evaluations ADD COLUMN request TEXT;
ALTER TABLE evaluations ADD COLUMN turns INTEGER;
CREATE UNIQUE INDEX evaluations_by_request ON evaluations (request, variant_id)
  WHERE request IS NOT NULL;
