#include "remote/answers.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace winnow::remote {
namespace {

using tasks::Evaluation;
using tasks::Verdict;

/// Of a speedup whose interval is not known, because there were few samples.
constexpr double kUnknownWidth = 1.25;

bool passed(const Evaluation& evaluation) {
  return evaluation.verdict == Verdict::Correct || evaluation.verdict == Verdict::NotJudged;
}

/// Logarithms.
struct LogInterval {
  double low, high;
};

LogInterval log_interval(const Evaluation& evaluation) {
  const tasks::Bounds& bounds = evaluation.speedup_bounds;
  if (bounds.low > 0 && std::isfinite(bounds.high)) {
    return {std::log(bounds.low), std::log(bounds.high)};
  }
  const double middle = std::log(evaluation.speedup);
  return {middle - std::log(kUnknownWidth), middle + std::log(kUnknownWidth)};
}

const Evaluation& first_of(const Answer& answer) {
  return answer.result.evaluations.front();
}

bool both_passed_on_cpu(const Evaluation& one, const Evaluation& other) {
  return passed(one) && passed(other) && one.device == "cpu";
}

bool agree(const Answer& one, const Answer& other) {
  return both_passed_on_cpu(first_of(one), first_of(other)) ||
         disagreement(first_of(one), first_of(other)).empty();
}

std::size_t more_cautious(const Answer& one, const Answer& other) {
  if (one.trusted != other.trusted) {
    return one.trusted ? 0 : 1;
  }
  return first_of(one).speedup <= first_of(other).speedup ? 0 : 1;
}

/// Verdicts that a race of the kernel, or the load of a machine, may cause now and then.
bool may_vary(Verdict verdict) {
  return verdict == Verdict::Unstable || verdict == Verdict::Timeout ||
         verdict == Verdict::Crashed || verdict == Verdict::OverLimit ||
         verdict == Verdict::LaunchError;
}

Ruling of_two(const std::vector<Answer>& answers, Ruling ruling, bool can_ask_third) {
  if (can_ask_third) {
    ruling.kind = Ruling::Kind::AskThird;
  } else if (answers[0].trusted == answers[1].trusted) {
    ruling.kind = Ruling::Kind::NoResult;
  } else {
    ruling.counts = answers[0].trusted ? 0 : 1;
    ruling.odd = 1 - ruling.counts;
  }
  return ruling;
}

} // namespace

std::string disagreement(const Evaluation& one, const Evaluation& other) {
  if (passed(one) != passed(other)) {
    return fmt::format("the verdicts '{}' and '{}'", to_string(one.verdict),
                       to_string(other.verdict));
  }
  if (!passed(one) || !(one.speedup > 0) || !(other.speedup > 0)) {
    return {};
  }
  const LogInterval a = log_interval(one), b = log_interval(other);
  const double gap = std::max(a.low - b.high, b.low - a.high);
  const double width = std::max(a.high - a.low, b.high - b.low);
  const bool apart = gap > kWidthsApart * width && gap > std::log(kLeastFactorApart);
  return apart ? fmt::format("the speedups {:.3g} and {:.3g}", one.speedup, other.speedup) : "";
}

Ruling rule(const std::vector<Answer>& answers, bool can_ask_third) {
  Ruling ruling;
  ruling.may_be_unstable = std::any_of(answers.begin(), answers.end(), [](const Answer& answer) {
    return may_vary(first_of(answer).verdict);
  });
  if (answers.size() < 2) {
    return ruling;
  }
  ruling.disagreement = disagreement(first_of(answers[0]), first_of(answers[1]));
  if (agree(answers[0], answers[1])) {
    ruling.is_timing_doubtful = !ruling.disagreement.empty();
    ruling.counts = ruling.is_timing_doubtful ? more_cautious(answers[0], answers[1]) : 0;
    return ruling;
  }
  if (answers.size() == 2) {
    return of_two(answers, std::move(ruling), can_ask_third);
  }
  const bool with_first = agree(answers[2], answers[0]),
             with_second = agree(answers[2], answers[1]);
  ruling.counts = 2;
  if (with_first != with_second) {
    ruling.odd = with_first ? 1 : 0;
  } else if (!with_first) {
    ruling.kind = Ruling::Kind::NoResult;
  }
  return ruling;
}

} // namespace winnow::remote
