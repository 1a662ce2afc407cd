// The answers of a board as sentences and as JSON. Terminal, Markdown and page show the sentences.
#include "base/text.h"
#include "base/text/number_text.h"
#include "store/board_facts.h"
#include "store/fields.h"
#include "tasks/result/speedup.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using nlohmann::json;

constexpr std::size_t kTiedShown = 6;

json value_or_null(const std::string& value) {
  return value.empty() ? json() : json(value);
}

std::string plural(std::int64_t count, const std::string& name) {
  return fmt::format("{} {}{}", count, name, count == 1 ? "" : "s");
}

std::string times_as_fast(double speedup, const std::string& rival, const tasks::Bounds& bounds) {
  return speedup_text(speedup, bounds) + " as fast as " + rival +
         (bounds.known() ? " (95 %: " + speedup_interval_text(bounds) + ")" : " (no interval)");
}

std::string ship_answer(const BoardSummary& board) {
  const LeaderboardRow& leader = board.leader;
  if (leader.candidate_id == 0) {
    return "no kernel: none has a rank";
  }
  if (leader.origin == "baseline") {
    return "no kernel: the task's own baseline leads";
  }
  const std::string parameters =
      tasks::parameters_text(json::parse(leader.parameters).get<tasks::ParameterChoice>());
  const tasks::Bounds& bounds = leader.speedup_bounds;
  const bool is_slower = bounds.known() && bounds.high < 1 && !board.is_tied_with_baseline;
  const bool won_its_race = board.race_bounds.known() && board.race_bounds.low > 1;
  const bool is_faster = bounds.known() ? bounds.low > 1 || won_its_race : leader.speedup >= 1;
  return fmt::format("candidate {} by {}{}{}", leader.candidate_id, leader.author,
                     parameters.empty() ? "" : ", " + parameters,
                     is_faster
                         ? ""
                         : fmt::format("; but it is {} {}",
                                       is_slower ? "slower than" : "not shown to be faster than",
                                       leader.speedup_versus));
}

std::string tied_text(const BoardSummary& board, const char* because) {
  if (!board.leader.tied) {
    return "";
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(board.tied.size(), kTiedShown); ++i) {
    names.push_back(std::to_string(board.tied[i]));
  }
  const std::string more = board.tied.size() > kTiedShown ? ", ..." : "";
  return names.empty()
             ? fmt::format("; others share its rank: {}", because)
             : fmt::format("; candidate{} {}{} share{} its rank: {}", names.size() == 1 ? "" : "s",
                           join(names, ", "), more, names.size() == 1 ? "s" : "", because);
}

/// Where the interval of the leader's speedup contains 1: what its race with the baseline says,
/// which is what ranks rest on. Empty: it does not, or the leader is the baseline itself.
std::string doubt_text(const BoardSummary& board) {
  const LeaderboardRow& leader = board.leader;
  const tasks::Bounds& bounds = leader.speedup_bounds;
  if (leader.origin == "baseline" || !bounds.known() || bounds.low > 1 || bounds.high < 1) {
    return "";
  }
  if (board.race_bounds.known() && board.race_bounds.low > 1) {
    return fmt::format("; the interval of the speedup contains 1, because another final may find "
                       "another speedup; ranks rest on the races of this final, and in its race "
                       "the kernel is {}x as fast as {} (99 %: {}-{})",
                       four_digits(board.race_ratio), leader.speedup_versus,
                       four_digits(board.race_bounds.low), four_digits(board.race_bounds.high));
  }
  return fmt::format("; the interval of the speedup contains 1, so the kernel is not shown to be "
                     "faster than {}",
                     leader.speedup_versus);
}

/// The baseline is a finalist, too. Where its two measurements differ, the machine was busy.
bool is_final_noisy(const BoardSummary& board) {
  constexpr double kMostNoise = 1.1;
  return board.baseline_speedup > 0 &&
         (board.baseline_speedup > kMostNoise || board.baseline_speedup < 1 / kMostNoise);
}

std::string noise_text(const BoardSummary& board) {
  return is_final_noisy(board)
             ? fmt::format("; {0} itself stands at {1}x of {0}, so the machine was busy and "
                           "all factors are that unsure. Hold another final on a quiet machine:",
                           board.leader.speedup_versus, number_text(board.baseline_speedup))
             : "";
}

std::string sure_answer(const BoardSummary& board) {
  if (board.final_at.empty()) {
    return "no final yet, so this order is provisional: the leaders were not timed against each "
           "other. A final does that:";
  }
  return "a final at " + minute_text(board.final_at) + " timed the leaders against each other" +
         tied_text(board, "no race of the final tells them apart") + doubt_text(board) +
         noise_text(board);
}

/// What a reader would use otherwise leads; the task's own baseline follows.
std::string against_answer(const BoardSummary& board) {
  const LeaderboardRow& leader = board.leader;
  const std::string race = board.final_at.empty() ? "no race" : "no race of the final";
  const std::string tie =
      board.is_tied_with_baseline ? ", but " + race + " tells it from the baseline" : "";
  const std::string baseline =
      leader.origin == "baseline"
          ? "the leader is " + leader.speedup_versus + " itself"
          : times_as_fast(leader.speedup, leader.speedup_versus, leader.speedup_bounds) + tie;
  if (leader.best_alternative.empty()) {
    return baseline + "; no library or framework is timed here";
  }
  const tasks::Bounds& bounds = leader.versus_best_bounds;
  const bool loses = (bounds.known() ? bounds.high : leader.versus_best) < 1;
  return (loses ? "slower: " : "") +
         times_as_fast(leader.versus_best, leader.best_alternative, bounds) +
         ", the fastest library or framework that is timed here; " + baseline;
}

/// Of a leader that is fitted to the shown shapes.
std::string general_answer(const LeaderboardRow& leader) {
  const HeldOutShape& worst = *unfit_shape(leader.held_out, leader.device);
  return fmt::format("{}: at {} its speed beside {} is {:.2f} of that at the search shapes",
                     leader.fitted, worst.shape_id,
                     worst.beside_alternative ? leader.best_alternative : leader.speedup_versus,
                     worst.share);
}

std::string limit_answer(const BoardSummary& board) {
  if (board.leader.of_light <= 0) {
    return "not known: " + board.bound;
  }
  const std::string score = board.sol_score > 0
                                ? fmt::format("; SOL score {:.2f} (0.50: as fast as {})",
                                              board.sol_score, board.leader.best_alternative)
                                : "";
  return fmt::format("{} of the speed of light at the search shape with the least share; bound: {}",
                     percent_text(board.leader.of_light), board.bound) +
         score;
}

std::string dollars_answer(const CostToReach& cost) {
  if (cost.calls_without_price == cost.calls) {
    return "price unknown";
  }
  return (cost.calls_without_price > 0 ? "at least " : "") + dollars_text(cost.dollars) +
         (cost.estimated_dollars > 0 ? " and an estimated " + dollars_text(cost.estimated_dollars) +
                                           " that the provider did not count"
                                     : "");
}

std::string cost_answer(const BoardSummary& board) {
  const CostToReach& cost = *board.cost;
  return fmt::format(
      "{}{}, {}, {} s of the device, in run {} up to this kernel", plural(cost.calls, "call"),
      cost.calls_from_record > 0 ? fmt::format(" ({} from the record)", cost.calls_from_record)
                                 : "",
      dollars_answer(cost), number_text(cost.device_seconds, 1), board.leader.run);
}

json answers_json(const BoardSummary& board) {
  json answers = json::array();
  const auto add = [&](const char* question, const std::string& answer,
                       const std::string& command = {}) {
    answers.push_back(
        {{"question", question}, {"answer", answer}, {"command", value_or_null(command)}});
  };
  add("ship", ship_answer(board));
  if (board.leader.candidate_id == 0) {
    return answers;
  }
  const bool needs_final = board.final_at.empty() || is_final_noisy(board);
  add("sure", sure_answer(board), needs_final ? board.final_command : "");
  add("against", against_answer(board));
  if (!board.leader.fitted.empty()) {
    add("general", general_answer(board.leader));
  }
  add("limit", limit_answer(board));
  if (board.cost) {
    add("cost", cost_answer(board));
  }
  if (board.leader.origin != "baseline") {
    add("take it", "as a kernel file and as programs that need no Winnow:", board.export_command);
  }
  return answers;
}

json cost_json(const CostToReach& cost) {
  json document = record_json(cost);
  if (cost.calls_without_price == cost.calls) {
    document["dollars"] = nullptr;
  }
  return document;
}

} // namespace

json summary_json(const BoardSummary& board) {
  json document = record_json(
      board, {"leader is_tied_with_baseline baseline_speedup race_ratio race_bounds sol_score cost",
              "final_at export_command"});
  document["leader"] = board.leader.candidate_id == 0 ? json() : json(board.leader.candidate_id);
  const LeaderboardRow& leader = board.leader;
  document["of_light"] = leader.of_light > 0 ? json(leader.of_light) : json();
  document["sol_score"] = board.sol_score > 0 ? json(board.sol_score) : json();
  document["alternative"] = value_or_null(leader.best_alternative);
  document["versus_alternative"] = leader.versus_best > 0 ? json(leader.versus_best) : json();
  document["cost"] = board.cost ? cost_json(*board.cost) : json();
  document["answers"] = answers_json(board);
  return document;
}

json left_out_json(const LeftOutKernel& kernel) {
  json document = record_json(kernel, {{}, "model speedup", "parameters"});
  document["note"] =
      fmt::format("candidate {} by {}{}: {}", kernel.candidate_id, kernel.author,
                  kernel.speedup > 0 ? ", " + times_as_fast(kernel.speedup, kernel.speedup_versus,
                                                            kernel.speedup_bounds)
                                     : "",
                  kernel.reason);
  return document;
}

} // namespace winnow::store
