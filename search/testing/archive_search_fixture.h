#pragma once

#include "search/archive_search.h"

#include <memory>
#include <string>
#include <variant>

#include <gtest/gtest.h>

namespace winnow::search::test {

constexpr int kThisEvaluator = 9;
constexpr CandidateId kFirst = 1; ///< the baseline
inline const Capacity kACall{1};

inline Outcome fast(double speedup, const std::string& cell = "plain") {
  Outcome made;
  made.verdict = tasks::Verdict::Correct;
  made.evaluator_version = kThisEvaluator;
  made.speedup = speedup;
  made.speedup_bounds = {speedup * 0.99, speedup * 1.01};
  made.promoted = true;
  made.cell = cell;
  made.kernel = cell + std::to_string(speedup);
  return made;
}

inline Outcome failed(tasks::Verdict verdict) {
  Outcome made;
  made.verdict = verdict;
  made.evaluator_version = kThisEvaluator;
  return made;
}

/// An archive search of the task "axpy" whose baseline is judged.
class ArchiveSearchTest : public testing::Test {
protected:
  void begin(Settings settings, const Policy& policy = preset("archive").policy) {
    settings.task = "axpy";
    settings.evaluator_version = kThisEvaluator;
    search_ = std::make_unique<ArchiveSearch>(settings, policy);
    search_->apply(Added{kFirst, "", 0});
    judge(kFirst, fast(1));
  }

  void judge(CandidateId candidate, const Outcome& outcome) {
    const auto action = search_->decide({});
    ASSERT_TRUE(action);
    ASSERT_EQ(std::get<Evaluate>(*action).candidate, candidate);
    search_->apply(Decided{*action, {}});
    search_->apply(Evaluated{candidate, outcome});
  }

  Ask ask() {
    const auto action = search_->decide(kACall);
    EXPECT_TRUE(action && std::holds_alternative<Ask>(*action));
    if (!action) {
      return {};
    }
    search_->apply(Decided{*action, kACall});
    return std::get<Ask>(*action);
  }

  CandidateId answer(const Ask& ask, const Outcome& outcome, double dollars = 0.01) {
    search_->apply(Added{++last_, ask.key, dollars});
    judge(last_, outcome);
    return last_;
  }

  std::unique_ptr<ArchiveSearch> search_;
  CandidateId last_ = kFirst;
};

} // namespace winnow::search::test
