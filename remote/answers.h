#pragma once

#include "evaluators/evaluation/evaluation_request.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace winnow::remote {

/// One worker's result of a request.
struct Answer {
  std::string worker;
  /// The worker took the job from the queue of the trusted workers, which the broker guards.
  bool trusted = false;
  evaluators::EvaluationResult result;
};

/// Two speedups disagree if their intervals are further apart than this many times the wider one,
inline constexpr double kWidthsApart = 2;
/// and by at least this factor: two machines of one model may differ by several percent.
inline constexpr double kLeastFactorApart = 1.1;

/// How two evaluations of one kernel differ more than two honest GPUs do; empty: they agree.
/// Either both kernels pass or both fail; if both pass, the intervals of the speedups are close.
std::string disagreement(const tasks::Evaluation& one, const tasks::Evaluation& other);

/// What several workers say together. Speedups that are far apart contradict each other on GPUs
/// only. On a CPU, other programs change the same kernel's speedup tenfold, so no worker is odd:
/// the answer of the trusted worker counts, else the lower speedup.
struct Ruling {
  enum class Kind {
    Counts,   ///< the answer `counts` is the result
    AskThird, ///< two answers disagree
    NoResult, ///< no two answers agree
  };
  Kind kind = Kind::Counts;
  std::size_t counts = 0;
  std::optional<std::size_t> odd; ///< the answer that two others, or a trusted worker, contradict
  /// The kernel may behave differently from run to run, so the odd answer may be honest.
  bool may_be_unstable = false;
  /// The speedups of the first two are far apart, on a CPU: one of them may time wrongly.
  bool is_timing_doubtful = false;
  std::string disagreement; ///< between the first two answers; empty: none
};
/// `answers`: one to three, of different workers.
Ruling rule(const std::vector<Answer>& answers, bool can_ask_third);

} // namespace winnow::remote
