#include "base/error.h"
#include "evaluators/evaluation/local_evaluations.h"
#include "evaluators/evaluation/ordered_results.h"

#include <atomic>
#include <barrier>
#include <functional>
#include <future>
#include <latch>
#include <map>
#include <set>
#include <thread>

#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using Evaluated = std::vector<tasks::Evaluation>;
using Verdicts = std::function<Evaluated(const EvaluationRequest&, const std::stop_token&)>;

Evaluated one(tasks::Verdict verdict) {
  tasks::Evaluation evaluation;
  evaluation.verdict = verdict;
  return {evaluation};
}

struct FakeLane : Lane {
  explicit FakeLane(Verdicts of) : verdicts(std::move(of)) {}
  Evaluated evaluate(const EvaluationRequest& request, const std::stop_token& stop) override {
    return verdicts(request, stop);
  }
  std::string lost_device() const override { return lost; }
  std::string worker() const override { return "cuda:1 GPU"; }

  Verdicts verdicts;
  std::string lost;
};

Evaluated correct(const EvaluationRequest&, const std::stop_token&) {
  return one(tasks::Verdict::Correct);
}

LocalEvaluations::Setup on_lanes(std::vector<Verdicts> lanes, TakeResult done) {
  LocalEvaluations::Setup setup;
  for (Verdicts& verdicts : lanes) {
    setup.lanes.push_back(std::make_unique<FakeLane>(std::move(verdicts)));
  }
  setup.done = std::move(done);
  return setup;
}

EvaluationRequest request(const std::string& id) {
  EvaluationRequest request;
  request.id = id;
  request.file_name = id + ".cu";
  return request;
}

/// Evaluates until it is stopped.
Verdicts endless(std::latch& started) {
  return [&started](const EvaluationRequest&, const std::stop_token& stop) {
    started.count_down();
    std::promise<void> stopped;
    const std::stop_callback callback(stop, [&] { stopped.set_value(); });
    stopped.get_future().wait();
    return one(tasks::Verdict::Infrastructure);
  };
}

TEST(LocalEvaluations, StopEndsWhatRunsAndDropsTheRest) {
  std::latch started(1);
  int done = 0;
  LocalEvaluations evaluations(on_lanes({endless(started)}, [&](EvaluationResult) { ++done; }));
  evaluations.submit(request("a"));
  evaluations.submit(request("b"));
  started.wait();
  evaluations.stop();
  EXPECT_EQ(done, 0);
}

TEST(LocalEvaluations, CancelEndsOneRequest) {
  std::latch started(1);
  OrderedResults results;
  const Verdicts until_cancelled = endless(started);
  const Verdicts verdicts = [&](const EvaluationRequest& asked, const std::stop_token& stop) {
    return asked.id == "a" ? until_cancelled(asked, stop) : correct(asked, stop);
  };
  LocalEvaluations evaluations(
      on_lanes({verdicts}, [&](EvaluationResult result) { results.put(std::move(result)); }));
  for (const char* id : {"a", "b", "c"}) {
    results.expect(id);
    evaluations.submit(request(id));
  }
  started.wait();
  evaluations.cancel("b"); // waits
  evaluations.cancel("a"); // runs
  evaluations.cancel("nobody knows this");
  EXPECT_EQ(results.next()->fault, "cancelled");
  EXPECT_EQ(results.next()->fault, "cancelled");
  const EvaluationResult last = results.next().value();
  EXPECT_EQ(last.fault, "");
  EXPECT_EQ(last.evaluations.at(0).verdict, tasks::Verdict::Correct);
  EXPECT_EQ(last.worker, "cuda:1 GPU");
}

TEST(LocalEvaluations, TakesTheOldestRequestFirst) {
  std::vector<std::string> order;
  std::latch done(3);
  LocalEvaluations evaluations(on_lanes({correct}, [&](const EvaluationResult& result) {
    order.push_back(result.id);
    done.count_down();
  }));
  for (const char* id : {"a", "b", "c"}) {
    evaluations.submit(request(id));
  }
  done.wait();
  EXPECT_EQ(order, (std::vector<std::string>{"a", "b", "c"}));
}

TEST(LocalEvaluations, AnErrorIsAFaultWithItsRemedy) {
  OneByOne evaluations([](TakeResult done) {
    return std::make_unique<LocalEvaluations>(
        on_lanes({[](const EvaluationRequest&, const std::stop_token&) -> Evaluated {
                   throw Error("broken", "mend it");
                 }},
                 std::move(done)));
  });
  EvaluationRequest asked = request("");
  asked.task = std::make_shared<const tasks::Task>();
  const EvaluationResult found = evaluations.evaluate(asked).value();
  EXPECT_TRUE(found.evaluations.empty());
  EXPECT_EQ(found.fault, "broken; mend it");
  evaluations.interrupt();
  EXPECT_FALSE(evaluations.evaluate(asked));
}

TEST(LocalEvaluations, DevicesWorkAtTheSameTime) {
  std::barrier<> all(2);
  std::latch done(2);
  const Verdicts meet = [&](const EvaluationRequest& asked, const std::stop_token& stop) {
    all.arrive_and_wait();
    return correct(asked, stop);
  };
  LocalEvaluations evaluations(
      on_lanes({meet, meet}, [&](const EvaluationResult&) { done.count_down(); }));
  evaluations.submit(request("a"));
  evaluations.submit(request("b"));
  done.wait(); // hangs if one device takes both requests
}

TEST(LocalEvaluations, ALostDeviceLeavesItsRequestsToTheOthers) {
  std::atomic<int> asked_lost = 0;
  OrderedResults results;
  const Verdicts lose = [&](const EvaluationRequest&, const std::stop_token&) {
    ++asked_lost;
    return one(tasks::Verdict::Infrastructure);
  };
  const Verdicts wait = [&](const EvaluationRequest& asked, const std::stop_token& stop) {
    while (asked_lost == 0) { // until the other device has a request
      std::this_thread::yield();
    }
    return correct(asked, stop);
  };
  LocalEvaluations::Setup setup =
      on_lanes({lose, wait}, [&](EvaluationResult result) { results.put(std::move(result)); });
  dynamic_cast<FakeLane&>(*setup.lanes[0]).lost = "cuda:1: fell off the bus";
  std::vector<std::string> warnings;
  setup.warn = [&warnings](const std::string& line) { warnings.push_back(line); };
  LocalEvaluations evaluations(std::move(setup));
  for (int i = 0; i < 20; ++i) {
    results.expect(std::to_string(i));
    evaluations.submit(request(std::to_string(i)));
  }
  for (int i = 0; i < 20; ++i) {
    const EvaluationResult result = results.next().value();
    EXPECT_EQ(result.fault, "") << i;
    EXPECT_EQ(result.evaluations.at(0).verdict, tasks::Verdict::Correct) << i;
  }
  EXPECT_EQ(asked_lost, 1);
  EXPECT_EQ(warnings,
            std::vector<std::string>{"a device judges no more: cuda:1: fell off the bus"});
}

TEST(LocalEvaluations, SaysWhenNoDeviceIsLeft) {
  OrderedResults results;
  LocalEvaluations::Setup setup = on_lanes(
      {correct, correct}, [&](EvaluationResult result) { results.put(std::move(result)); });
  for (auto& lane : setup.lanes) {
    dynamic_cast<FakeLane&>(*lane).lost = "cuda:1: fell off the bus";
  }
  LocalEvaluations evaluations(std::move(setup));
  for (const char* id : {"a", "b"}) {
    results.expect(id);
    evaluations.submit(request(id));
  }
  for (int i = 0; i < 2; ++i) {
    const EvaluationResult result = results.next().value();
    EXPECT_EQ(result.fault, "no device is left to judge on: cuda:1: fell off the bus");
    EXPECT_TRUE(result.evaluations.empty());
  }
}

TEST(LocalEvaluations, CompilesAheadBeforeItEvaluates) {
  std::mutex mutex;
  std::set<std::string> compiled;
  std::vector<bool> compiled_first;
  std::latch done(5);
  LocalEvaluations::Setup setup = on_lanes({correct}, [&](const EvaluationResult& result) {
    const std::lock_guard lock(mutex);
    compiled_first.push_back(compiled.contains(result.id));
    done.count_down();
  });
  setup.compile_threads = 3;
  setup.compile_ahead = [&](const EvaluationRequest& asked, const std::function<bool()>&) {
    const std::lock_guard lock(mutex);
    compiled.insert(asked.id);
  };
  LocalEvaluations evaluations(std::move(setup));
  for (int i = 0; i < 5; ++i) {
    evaluations.submit(request(std::to_string(i)));
  }
  done.wait();
  EXPECT_EQ(compiled_first, std::vector<bool>(5, true));
}

TEST(LocalEvaluations, CompilesTheChoicesOfARequestAtTheSameTime) {
  constexpr int kChoices = 3;
  std::latch all_at_once(kChoices);
  std::latch done(1);
  LocalEvaluations::Setup setup = on_lanes({correct}, [&](const EvaluationResult& result) {
    EXPECT_EQ(result.fault, "");
    done.count_down();
  });
  setup.compile_threads = kChoices;
  setup.compile_ahead = [&](const EvaluationRequest& part, const std::function<bool()>&) {
    EXPECT_EQ(part.choices.size(), 1U);
    all_at_once.arrive_and_wait();
  };
  LocalEvaluations evaluations(std::move(setup));
  EvaluationRequest family = request("a");
  family.choices = {{{"P", 1}}, {{"P", 2}}, {{"P", 3}}};
  evaluations.submit(family);
  done.wait();
}

TEST(LocalEvaluations, ACancelledRequestWaitsForNoFurtherChoice) {
  std::latch compiling(1);
  std::latch done(1);
  LocalEvaluations::Setup setup = on_lanes({correct}, [&](const EvaluationResult& result) {
    EXPECT_EQ(result.fault, "cancelled");
    done.count_down();
  });
  setup.compile_threads = 1;
  setup.compile_ahead = [&](const EvaluationRequest&, const std::function<bool()>& cancelled) {
    compiling.count_down();
    while (!cancelled()) {
      std::this_thread::yield();
    }
  };
  LocalEvaluations evaluations(std::move(setup));
  EvaluationRequest family = request("a");
  family.choices = {{{"P", 1}}, {{"P", 2}}};
  evaluations.submit(family);
  compiling.wait();
  evaluations.cancel("a");
  done.wait();
}

struct Preparing : FakeLane {
  explicit Preparing(std::latch& latch) : FakeLane(correct), prepared(latch) {}
  void prepare(const EvaluationRequest&, const std::stop_token&) override {
    prepared.count_down();
    throw Error("the task's own kernel does not compile"); // evaluate() must report the same error
  }
  std::latch& prepared;
};

TEST(LocalEvaluations, PreparesEveryDeviceWhileTheFirstCandidateIsCompiled) {
  std::latch prepared(2);
  std::latch done(1);
  LocalEvaluations::Setup setup = on_lanes({}, [&](const EvaluationResult& result) {
    EXPECT_EQ(result.fault, "");
    done.count_down();
  });
  for (int i = 0; i < 2; ++i) {
    setup.lanes.push_back(std::make_unique<Preparing>(prepared));
  }
  setup.compile_threads = 1;
  setup.compile_ahead = [&](const EvaluationRequest&, const std::function<bool()>&) {
    prepared.wait();
  };
  LocalEvaluations evaluations(std::move(setup));
  evaluations.submit(request("a"));
  done.wait();
}

const HoldProgress kSilent = [](int, int) {};

SittingRequest two_boards() {
  SittingRequest request;
  request.id = "final";
  request.boards.resize(2);
  return request;
}

/// Holds sittings for as long as `until_stopped` says, else at once.
struct HoldingLane : FakeLane {
  explicit HoldingLane(bool endlessly = false) : FakeLane(correct), until_stopped(endlessly) {}
  SittingAnswer hold(const SittingRequest& request, const std::stop_token& stop,
                     const HoldProgress& progress) override {
    SittingAnswer answer = failed_sittings(request, "");
    answer.worker = worker();
    answer.boards[1].result.emplace().rounds = 6;
    started.count_down();
    progress(1, 2);
    std::promise<void> stopped;
    const std::stop_callback callback(stop, [&] { stopped.set_value(); });
    if (until_stopped) {
      stopped.get_future().wait();
      return failed_sittings(request, "cancelled");
    }
    return answer;
  }
  const bool until_stopped;
  std::latch started{1};
};

/// Setup with one lane, and the lane.
std::pair<LocalEvaluations::Setup, HoldingLane*> on_holding_lane(bool endlessly = false) {
  LocalEvaluations::Setup setup = on_lanes({}, [](const EvaluationResult&) {});
  auto lane = std::make_unique<HoldingLane>(endlessly);
  HoldingLane* pointer = lane.get();
  setup.lanes.push_back(std::move(lane));
  return {std::move(setup), pointer};
}

TEST(LocalEvaluations, HoldsSittingsBetweenEvaluations) {
  std::latch judged(2);
  std::pair<int, int> steps;
  auto [setup, lane] = on_holding_lane();
  setup.done = [&](const EvaluationResult& result) {
    EXPECT_EQ(result.fault, "");
    judged.count_down();
  };
  LocalEvaluations evaluations(std::move(setup));
  evaluations.submit(request("a"));
  const SittingAnswer answer = evaluations.hold(two_boards(), {}, [&](int made, int all) {
    steps = {made, all};
  });
  evaluations.submit(request("b"));
  judged.wait();
  EXPECT_EQ(answer.id, "final");
  EXPECT_EQ(steps, std::pair(1, 2));
  EXPECT_EQ(answer.worker, "cuda:1 GPU");
  ASSERT_EQ(answer.boards.size(), 2U);
  EXPECT_EQ(answer.boards[1].result.value().rounds, 6);
}

TEST(LocalEvaluations, ARequestToStopEndsASitting) {
  auto [setup, lane] = on_holding_lane(true);
  LocalEvaluations evaluations(std::move(setup));
  std::stop_source stop;
  std::thread user([&stop, at = lane] {
    at->started.wait();
    stop.request_stop();
  });
  const SittingAnswer answer = evaluations.hold(two_boards(), stop.get_token(), kSilent);
  user.join();
  EXPECT_EQ(answer.boards.at(0).fault, "cancelled");
}

TEST(LocalEvaluations, StopEndsASittingThatWaits) {
  std::latch started(1);
  LocalEvaluations evaluations(on_lanes({endless(started)}, [](const EvaluationResult&) {}));
  evaluations.submit(request("a"));
  started.wait();
  SittingAnswer answer;
  std::thread user([&] { answer = evaluations.hold(two_boards(), {}, kSilent); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20)); // before or in the queue: the same
  evaluations.stop();
  user.join();
  EXPECT_NE(answer.boards.at(1).fault, "");
  EXPECT_FALSE(answer.boards.at(1).result);
}

TEST(LocalEvaluations, SayThatADeviceHoldsNoSittings) {
  LocalEvaluations evaluations(on_lanes({correct}, [](const EvaluationResult&) {}));
  EXPECT_EQ(evaluations.hold(two_boards(), {}, kSilent).boards.at(0).fault,
            "this device holds no sittings");
}

EvaluationResult result_of(const std::string& id) {
  EvaluationResult result;
  result.id = id;
  return result;
}

TEST(OrderedResults, WaitForTheNextOne) {
  OrderedResults results;
  for (const char* id : {"a", "b", "c"}) {
    results.expect(id);
  }
  std::thread evaluations([&] {
    for (const char* id : {"c", "a", "b"}) {
      results.put(result_of(id));
    }
  });
  for (const char* id : {"a", "b", "c"}) {
    EXPECT_EQ(results.next()->id, id);
  }
  evaluations.join();
}

TEST(OrderedResults, EndWithAnInterruption) {
  OrderedResults results;
  results.expect("a");
  std::thread user([&] { results.interrupt(); });
  EXPECT_FALSE(results.next());
  user.join();
  results.put(result_of("a"));
  EXPECT_FALSE(results.next());
}

} // namespace
} // namespace winnow::evaluators
