#pragma once

#include "search/policy.h"
#include "search/testing/archive_search_fixture.h"

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace winnow::search::test {

/// A search of the task "axpy" by a preset. Its baseline is judged: 1.0x. Keeps its log.
class PresetSearchTest : public testing::Test {
protected:
  void begin(const std::string& name, std::size_t proposals = 100, std::uint64_t seed = 1) {
    begin(preset(name).policy, {.proposals = proposals, .seed = seed});
  }

  void begin(const Policy& policy, Settings settings) {
    settings.task = "axpy";
    settings.evaluator_version = kThisEvaluator;
    policy_ = policy;
    settings_ = settings;
    search_ = make_search(policy, settings);
    log_.clear();
    last_ = 0;
    if (settings.has_baseline) {
      apply(Added{++last_, "", 0});
      judge(fast(1, "the baseline"));
    }
  }

  void apply(const Event& event) {
    log_.push_back(entry_of(event));
    search_->apply(event);
  }

  bool waits() const { return !search_->decide(capacity_); }

  Ask ask() {
    const auto action = search_->decide(capacity_);
    EXPECT_TRUE(action && std::holds_alternative<Ask>(*action)) << "after " << log_.back().detail;
    if (!action || !std::holds_alternative<Ask>(*action)) {
      return {};
    }
    apply(Decided{*action, capacity_});
    return std::get<Ask>(*action);
  }

  /// So many calls, which all begin before one of them is answered.
  std::vector<Ask> asks(int count) {
    std::vector<Ask> all;
    for (int i = 0; i < count; ++i) {
      all.push_back(ask());
    }
    return all;
  }

  /// The reply has come, and waits for its verdict.
  CandidateId reply(const Ask& ask) {
    apply(Added{++last_, ask.key, 0.01});
    return last_;
  }

  /// The oldest reply that waits gets this verdict.
  void judge(const Outcome& outcome) {
    const auto action = search_->decide({});
    ASSERT_TRUE(action);
    apply(Decided{*action, {}});
    apply(Evaluated{std::get<Evaluate>(*action).candidate, outcome});
  }

  CandidateId answer(const Ask& ask, const Outcome& outcome) {
    reply(ask);
    judge(outcome);
    return last_;
  }

  /// Every decision in the log is what a new search decides there.
  void replay() const {
    const auto search = make_search(policy_, settings_);
    for (const LogEntry& entry : log_) {
      const Event event = event_of(entry);
      if (const auto* decision = std::get_if<Decided>(&event)) {
        const auto action = search->decide(decision->capacity);
        ASSERT_TRUE(action && *action == decision->action) << entry.detail;
      }
      search->apply(event);
    }
    EXPECT_EQ(search->decide(capacity_), search_->decide(capacity_));
  }

  Capacity capacity_{8};
  Policy policy_;
  Settings settings_;
  std::unique_ptr<Search> search_;
  std::vector<LogEntry> log_;
  CandidateId last_ = 0;
};

} // namespace winnow::search::test
