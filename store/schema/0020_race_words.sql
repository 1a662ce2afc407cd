-- Version 20. A race's word follows from its interval (race_verdict() in
-- profiling/statistics/race_verdict.h). Before this version a race that was given up said "slower"
-- or "tie" beside an interval that does not show it. Such a race gets the word that its interval
-- allows.
UPDATE evaluations SET race = json_set(race, '$.verdict', 'not shown to be faster')
WHERE (json_extract(race, '$.verdict') = 'faster'
       AND coalesce(json_extract(race, '$.bounds[0]'), 0) <= 1)
   OR (json_extract(race, '$.verdict') = 'slower'
       AND coalesce(json_extract(race, '$.bounds[1]'), 2) >= 1)
   OR (json_extract(race, '$.verdict') = 'tie'
       AND (coalesce(json_extract(race, '$.bounds[0]'), 0) < 0.995
            OR coalesce(json_extract(race, '$.bounds[1]'), 2) > 1.005));
UPDATE asked_races SET verdict = 'not shown to be faster'
WHERE (verdict = 'faster' AND coalesce(ratio_low, 0) <= 1)
   OR (verdict = 'slower' AND coalesce(ratio_high, 2) >= 1)
   OR (verdict = 'tie' AND (coalesce(ratio_low, 0) < 0.995 OR coalesce(ratio_high, 2) > 1.005));
