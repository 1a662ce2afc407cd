// The fields of boards, each named once. For .cpp files.
#pragma once

#include "store/board_facts.h"
#include "store/fields.h"
#include "store/run_store.h"

namespace winnow::store {

// In the order of CSV.
WINNOW_JSON_FIELDS(LeaderboardRow, task, device, device_name, rank, tied, unranked, speedup,
                   speedup_bounds, score_ns, candidate_id, evaluation_id, run_id, run, origin,
                   model, parameters, isolation, evaluated_at, lines, digest, task_digest,
                   evaluator_version, speedup_versus, shapes, findings, dollars, held_out_speedup,
                   flag, task_flags, author, task_note, kernel, comparable)
inline constexpr FieldRules kBoardRow{"kernel comparable", "rank model held_out_speedup",
                                      "parameters"};

WINNOW_JSON_FIELDS(BaselineStanding, time_versus, task, task_digest, device, device_name,
                   evaluator_version, name, version, relative_time, shapes, agrees, note)
WINNOW_JSON_FIELDS(GpuSpread, task, task_digest, device, device_name, evaluator_version,
                   time_versus, gpus, evaluations, between, within)
WINNOW_JSON_FIELDS(CostToReach, calls, calls_from_record, calls_without_price, dollars,
                   estimated_dollars, device_seconds)
WINNOW_JSON_FIELDS(BoardSummary, task, task_digest, device, device_name, evaluator_version, leader,
                   final_at, tied, is_tied_with_baseline, baseline_speedup, of_light, bound,
                   alternative, versus_alternative, cost, final_command, export_command)
WINNOW_JSON_FIELDS(LeftOutKernel, task, task_digest, device, device_name, evaluator_version,
                   candidate_id, run_id, run, origin, model, author, digest, task_note, parameters,
                   speedup, speedup_bounds, speedup_versus, reason, of)

} // namespace winnow::store
