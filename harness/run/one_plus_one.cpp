#include "harness/run/one_plus_one.h"

#include "harness/run/promotion.h"

namespace winnow::harness {
namespace {

using tasks::Verdict;

// A correct attempt below this fraction of the best speed is a bad parent.
constexpr double kRegressedFraction = 0.85;
constexpr std::size_t kRepairsInARow = 3;

/// How many failures of this kind in a row lead to a request for a repair; 0: none.
std::size_t repairs_worth(Verdict verdict) {
  switch (verdict) {
  case Verdict::BadReply:
  case Verdict::BadPlan:
  case Verdict::CompileError:
    return 2;
  case Verdict::OverLimit:
  case Verdict::LaunchError:
  case Verdict::Timeout:
  case Verdict::Crashed:
  case Verdict::OutOfBounds:
  case Verdict::ModifiedInput:
  case Verdict::UnwrittenOutput:
  case Verdict::Wrong:
  case Verdict::Unstable:
  case Verdict::LowPrecision:
  case Verdict::WrongUnseen:
  case Verdict::Refused:
    return 1;
  case Verdict::NotJudged:
  case Verdict::Implausible:
  case Verdict::Unsupported:
  case Verdict::Correct:
  case Verdict::Infrastructure:
    return 0;
  }
  return 0;
}

bool is_failure(const PastAttempt& attempt) {
  return attempt.evaluation.verdict != Verdict::Correct &&
         attempt.evaluation.verdict != Verdict::Infrastructure;
}

/// A compile error after a bad reply is progress. So each kind of failure has its own limit on
/// repairs, and failures of all kinds together have another limit.
bool worth_repairing(const Chain& chain) {
  const std::size_t worth = repairs_worth(chain.attempts.back().evaluation.verdict);
  std::size_t failures = 0;
  std::size_t alike = 0;
  for (auto it = chain.attempts.rbegin(); it != chain.attempts.rend() && is_failure(*it); ++it) {
    alike += alike == failures && repairs_worth(it->evaluation.verdict) == worth ? 1 : 0;
    ++failures;
  }
  return alike > 0 && alike <= worth && failures <= kRepairsInARow;
}

std::optional<std::size_t> fastest_correct(const Chain& chain) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < chain.attempts.size(); ++i) {
    if (is_contender(chain.attempts[i].evaluation) &&
        (!best || beats(chain.attempts[i], &chain.attempts[*best]))) {
      best = i;
    }
  }
  return best;
}

Proposal propose(std::size_t index, const Chain& chain) {
  Proposal proposal;
  proposal.chain = index;
  proposal.step = chain.attempts.size();
  proposal.best = fastest_correct(chain);
  proposal.parent = proposal.best;
  if (chain.attempts.empty()) {
    return proposal;
  }
  const std::size_t last = chain.attempts.size() - 1;
  const tasks::Evaluation& evaluation = chain.attempts[last].evaluation;
  if (evaluation.verdict == Verdict::Correct) {
    const double best_speedup =
        proposal.best ? chain.attempts[*proposal.best].evaluation.speedup : 0;
    if (evaluation.speedup >= kRegressedFraction * best_speedup) {
      proposal.previous = last;
    }
  } else if (worth_repairing(chain)) {
    proposal.previous = last;
    proposal.parent = last;
  }
  return proposal;
}

} // namespace

std::size_t OnePlusOne::steps(std::size_t chain) const {
  return proposals_ / chains_ + (chain < proposals_ % chains_ ? 1 : 0);
}

std::vector<Proposal> OnePlusOne::next(const TaskHistory& history) const {
  std::vector<Proposal> proposals;
  const Chain none;
  for (std::size_t index = 0; index < chains_; ++index) {
    const Chain* found = history.find(index);
    const Chain& chain = found != nullptr ? *found : none;
    if (!chain.ended && chain.attempts.size() < steps(index)) {
      proposals.push_back(propose(index, chain));
    }
  }
  return proposals;
}

} // namespace winnow::harness
