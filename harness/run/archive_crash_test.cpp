// SIGKILL during an archive search that uses every operator, tunes families, and meets faults of
// the machine and calls without a reply.
#include "harness/run/testing/run_loop_fixture.h"

#include <algorithm>
#include <csignal>
#include <tuple>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace winnow::harness {
namespace {

using agents::ModelReply;
using agents::ModelRequest;
using test::ScriptedModel;
using End = RunOutcome::End;

constexpr const char* kBarriers = "/* barriers */";
constexpr const char* kFaulty = "/* faulty */"; // the machine fails in its first heat

std::string marked(std::string reply, const std::string& mark) {
  reply.insert(reply.find("__global__"), mark);
  return reply;
}

int number_of(const std::string& key) {
  return std::stoi(key.substr(key.rfind('/') + 1));
}

/// Five seeds, and then kernels that no operator gains by, so that the bandit tries all of them.
ModelReply answer(const ModelRequest& request) {
  static const std::vector<std::pair<std::string, double>> kReplies{
      {test::reply_text("correct", 4.0, 4.0), 0.01},
      {marked(test::family_reply_text(2.0, 1.2), kBarriers), 0.01},
      {test::reply_text("correct", 2.2, 2.2), 0.01},
      {marked(test::family_reply_text(1.5, 0.9), kFaulty), 0.01},
      {test::reply_text("compile_error", 0), 0.01},
      {test::family_reply_text(3.0, 1.1), 5},
      {test::reply_text("correct", 2.5, 2.5), 5},
      {test::reply_text("correct", 3.6, 3.6), 5},
      {test::reply_text("correct", 3.5, 3.5), 5},
      {test::family_reply_text(2.8, 1.3), 5},
      {"I cannot do that.", 5},
      {test::reply_text("correct", 2.0, 2.0), 5}};
  const auto number = static_cast<std::size_t>(number_of(request.key));
  const auto& [text, dollars] = kReplies.at(std::min(number, kReplies.size() - 1));
  ModelReply reply = test::ok_reply(text);
  reply.dollars = dollars;
  return reply;
}

/// As answer(), but one call fails when it is sent first.
ScriptedModel::Answer answer_with_a_failure() {
  return [has_failed = std::make_shared<bool>(false)](const ModelRequest& request) {
    if (number_of(request.key) == 8 && !std::exchange(*has_failed, true)) {
      return test::failed_reply("503");
    }
    return answer(request);
  };
}

/// Kernels with kBarriers have a structure of their own.
class MarkedLane : public test::FakeLane {
public:
  std::vector<tasks::Evaluation> evaluate(const evaluators::EvaluationRequest& request,
                                          const std::stop_token& stop) override {
    auto evaluations = FakeLane::evaluate(request, stop);
    const bool is_faulty = request.text.find(kFaulty) != std::string::npos;
    const bool fails =
        is_faulty && request.depth == evaluators::Depth::Trial && !std::exchange(has_failed_, true);
    for (tasks::Evaluation& evaluation : evaluations) {
      if (request.text.find(kBarriers) != std::string::npos) {
        evaluation.build.features = {"block barriers"};
      }
      evaluation.verdict = fails ? tasks::Verdict::Infrastructure : evaluation.verdict;
    }
    return evaluations;
  }

private:
  bool has_failed_ = false;
};

class ArchiveCrashTest : public test::RunLoopTest {
protected:
  ArchiveCrashTest() {
    tasks_.resize(1);
    config_.strategy = "archive";
    config_.seeds = 5;
    config_.proposals = 30;
    config_.endpoint.parallel = 1;
    lane_ = [] { return std::make_unique<MarkedLane>(); };
  }

  /// Runs until the run is finished. Returns the calls that were asked for.
  std::vector<std::string> finish() {
    std::vector<std::string> asked;
    End end = End::Failed;
    const ScriptedModel::Answer replies = answer_with_a_failure();
    for (int sessions = 0; end != End::Finished && sessions < 3; ++sessions) {
      ScriptedModel endpoint(replies);
      end = session(endpoint).end;
      const std::vector<std::string> more = endpoint.asked();
      asked.insert(asked.end(), more.begin(), more.end());
    }
    EXPECT_EQ(end, End::Finished);
    return asked;
  }

  /// Runs in a child process that is killed as soon as its log has so many events of this name.
  /// False: the run has fewer.
  bool killed_at(const std::string& name, int nth) {
    forget();
    const pid_t child = fork();
    if (child == 0) {
      ScriptedModel endpoint(answer_with_a_failure());
      std::size_t seen = 0; // events; to read all of them after each write takes most of the time
      session(endpoint, [&] {
        for (const search::Event& event : log(seen)) {
          nth -= name_of(event) == name ? 1 : 0;
          ++seen;
        }
        if (nth <= 0) {
          raise(SIGKILL);
        }
      });
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }

  /// The events from number `first` on.
  std::vector<search::Event> log(std::size_t first = 0) const {
    constexpr store::RowId kTask = 1; // there is one
    const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
    std::vector<store::SearchLogRow> rows = store.search_log(store.find_run(run_name_)->id, kTask);
    std::vector<search::Event> events;
    for (std::size_t i = first; i < rows.size(); ++i) {
      events.push_back(search::event_of({std::move(rows[i].kind), std::move(rows[i].detail)}));
    }
    return events;
  }

  static std::string name_of(const search::Event& event) {
    const auto* decided = std::get_if<search::Decided>(&event);
    if (decided == nullptr) {
      return search::entry_of(event).kind;
    }
    const auto* evaluate = std::get_if<search::Evaluate>(&decided->action);
    return evaluate == nullptr ? "ask" : evaluate->is_heat() ? "heat" : "evaluate";
  }

  /// No choice of a candidate is timed more often than heats with the choice were decided, and no
  /// rung has a choice twice.
  void expect_nothing_measured_twice() const {
    std::map<std::tuple<store::RowId, std::string, int>, int> rungs; // heats, by choice and turns
    std::map<std::pair<store::RowId, std::string>, int> heats;
    const auto count = [&](store::RowId candidate, const auto& choices, int turns, int change) {
      for (const tasks::ParameterChoice& choice : choices) {
        const std::string name = tasks::parameters_text(choice);
        const int of_rung = rungs[{candidate, name, turns}] += change;
        EXPECT_LE(of_rung, 1) << candidate << ": " << name << ", turns " << turns;
        heats[{candidate, name}] += change;
      }
    };
    for (const search::Event& event : log()) {
      if (const auto* faulted = std::get_if<search::Faulted>(&event)) {
        count(faulted->candidate, faulted->choices, faulted->turns, -1);
      } else if (name_of(event) == "heat") {
        const auto& decided = std::get<search::Decided>(event).action;
        const auto& heat = std::get<search::Evaluate>(decided);
        count(heat.candidate, heat.choices, heat.turns, 1);
      }
    }
    const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
    for (const store::CandidateState& candidate : store.candidates(store.find_run(run_name_)->id)) {
      std::map<std::string, int> timed;
      for (const tasks::Evaluation& trial : store.trials(candidate.row.id)) {
        ++timed[tasks::parameters_text(trial.parameters)];
      }
      for (const auto& [choice, times] : timed) {
        const int decided = heats[{candidate.row.id, choice}];
        EXPECT_LE(times, decided) << candidate.row.call_key << ": " << choice;
      }
    }
  }
};

TEST_F(ArchiveCrashTest, UsesEveryOperatorAndMeetsEveryEvent) {
  finish();
  std::set<std::string> operators, kinds;
  for (const search::Event& event : log()) {
    kinds.insert(name_of(event));
    if (const auto* decided = std::get_if<search::Decided>(&event)) {
      if (const auto* ask = std::get_if<search::Ask>(&decided->action)) {
        operators.insert(ask->op);
      }
    }
  }
  EXPECT_THAT(operators,
              testing::ElementsAre("contrast", "crossover", "diff", "repair", "rewrite", "seed"));
  EXPECT_THAT(kinds, testing::ElementsAre("added", "ask", "evaluate", "evaluated", "faulted",
                                          "heat", "resumed", "tried", "unanswered"));
}

TEST_F(ArchiveCrashTest, DecidesAsItsLogSaysAfterASigkillAtAnyEvent) {
  for (const char* name :
       {"added", "ask", "evaluate", "evaluated", "faulted", "heat", "tried", "unanswered"}) {
    SCOPED_TRACE(std::string("killed at an event of the kind ") + name);
    constexpr int kMidway = 4;
    ASSERT_TRUE(killed_at(name, kMidway) || killed_at(name, 1));
    const std::set<std::string> paid = recorded_keys();
    for (const std::string& key : finish()) {
      EXPECT_FALSE(paid.contains(key)) << key << " was paid twice";
    }
    EXPECT_GE(recompute_decisions(), 2 * config_.proposals);
    EXPECT_EQ(recorded_keys().size(), static_cast<std::size_t>(config_.proposals));
    expect_nothing_measured_twice();
  }
}

} // namespace
} // namespace winnow::harness
