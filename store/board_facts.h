#pragma once

#include "base/fields.h"
#include "store/run_store.h"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::store {

/// What was spent in the leader's run on its task until the leader was judged.
struct CostToReach {
  std::int64_t calls = 0;             ///< up to the call that wrote the leader
  std::int64_t calls_from_record = 0; ///< part of `calls`: answered from a record, free
  std::int64_t calls_without_price = 0;
  double dollars = 0;           ///< of the calls with a known price
  double estimated_dollars = 0; ///< on top: of requests that the provider did not count
  double device_seconds = 0;
};
WINNOW_FIELDS(CostToReach, calls, calls_from_record, calls_without_price, dollars,
              estimated_dollars, device_seconds)

/// What a person asks a board.
struct BoardSummary {
  std::string task, task_digest, device, device_name; ///< with the evaluator: the board
  std::int64_t evaluator_version = 0;
  LeaderboardRow leader;   ///< the first row with a rank; candidate 0: there is none
  std::string final_at;    ///< when the board's newest final began; empty: it has none
  std::vector<RowId> tied; ///< other candidates with the leader's rank
  bool is_tied_with_baseline = false;
  /// Of the baseline's own row in the final: 1 but for noise. 0: it has none.
  double baseline_speedup = 0;
  /// The leader's race with that row; ratio 0: none.
  double race_ratio = 0;
  tasks::Bounds race_bounds; ///< 99 %
  std::string bound;         ///< what the leader's limit is: "DRAM's peak"; or why it is unknown
  /// How much of the gap between the best alternative and the speed of light the leader closes, as
  /// SOL-ExecBench scores it (arXiv 2603.19173): 1 / (1 + (T - T_SOL) / (T_b - T_SOL)), the mean
  /// over the search shapes. 0.5: as fast as the alternative. 1: at the speed of light. 0: unknown.
  double sol_score = 0;
  std::optional<CostToReach> cost; ///< nullopt: no model wrote the leader
  std::string final_command;       ///< holds a final of this board
  std::string export_command;      ///< writes the leader as a program; empty: there is no leader
};
WINNOW_FIELDS(BoardSummary, task, task_digest, device, device_name, evaluator_version, leader,
              final_at, tied, is_tied_with_baseline, baseline_speedup, race_ratio, race_bounds,
              bound, sol_score, cost, final_command, export_command)

/// A correct kernel that has no place on its board.
struct LeftOutKernel {
  std::string task, task_digest, device, device_name;
  std::int64_t evaluator_version = 0;
  RowId candidate_id = 0, run_id = 0;
  std::string run, origin, model, author, digest;
  std::string task_note, task_proof; ///< TaskNotes
  std::string parameters;            ///< a JSON object
  double speedup = 0;                ///< 0: not timed
  tasks::Bounds speedup_bounds;
  std::string speedup_versus = std::string(tasks::kVersusBaseline); ///< tasks::speedup_versus()
  std::string reason;
  std::int64_t of = 0; ///< how many kernels of this task and device are left out
};
WINNOW_FIELDS(LeftOutKernel, task, task_digest, device, device_name, evaluator_version,
              candidate_id, run_id, run, origin, model, author, digest, task_note, task_proof,
              parameters, speedup, speedup_bounds, speedup_versus, reason, of)

/// What stands beside the rows of boards.
struct BoardFacts {
  std::vector<BaselineStanding> baselines;
  std::vector<GpuSpread> gpu_spreads;
  std::vector<BoardSummary> summaries;
  std::vector<LeftOutKernel> left_out;
};

/// `rows`: what store.leaderboard(query) returned; they get what stands beside their times:
/// best_alternative, versus_best with its bounds, and of_light. Commands name the store
/// `store_name`; empty: by its path, as the user gave it. Of the kernels that are left out it has
/// query.top for each task and device; 0: all.
BoardFacts board_facts(const RunStore& store, const LeaderboardQuery& query,
                       std::vector<LeaderboardRow>& rows, const std::string& store_name = {});

/// As members of "summaries" and "not_ranked" of a leaderboard's document.
nlohmann::json summary_json(const BoardSummary& summary);
nlohmann::json left_out_json(const LeftOutKernel& kernel);

} // namespace winnow::store
