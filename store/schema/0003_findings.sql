-- Version 3. What was seen in the machine code, and how long the compiler library took.

-- Objects {"kind", "detail"}: tasks/finding.h.
ALTER TABLE builds ADD COLUMN findings TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(findings));
-- In the compiler library, and to load it; NULL: not known.
ALTER TABLE builds ADD COLUMN compiler_ms REAL;
ALTER TABLE builds ADD COLUMN load_ms REAL;

DROP VIEW leaderboard;
DROP VIEW run_leaderboard;
DROP VIEW ranked_evaluations;

-- As in version 1, with the build's findings.
CREATE VIEW ranked_evaluations AS
SELECT r.group_id, g.run_id AS board_run_id, t.name AS task, e.device, e.device_name, r.rank,
       r.speedup, e.score_ns, c.id AS candidate_id, e.id AS evaluation_id, c.run_id, c.origin,
       coalesce(m.model, '') AS model, v.parameters, e.isolation, k.digest, k.lines,
       e.started_at AS evaluated_at, e.evaluator_version, t.digest AS task_digest,
       coalesce(b.findings, '[]') AS findings
FROM ranked_standings AS r
CROSS JOIN leaderboard_groups AS g ON g.id = r.group_id
CROSS JOIN evaluations AS e ON e.id = r.evaluation_id
CROSS JOIN variants AS v ON v.id = e.variant_id
CROSS JOIN candidates AS c ON c.id = e.candidate_id
CROSS JOIN tasks AS t ON t.id = c.task_id
CROSS JOIN kernel_files AS k ON k.id = c.kernel_file_id
LEFT JOIN model_calls AS m ON m.id = c.call_id
LEFT JOIN builds AS b ON b.id = e.build_id;

CREATE VIEW leaderboard AS SELECT * FROM ranked_evaluations WHERE board_run_id IS NULL;
CREATE VIEW run_leaderboard AS SELECT * FROM ranked_evaluations WHERE board_run_id IS NOT NULL;
