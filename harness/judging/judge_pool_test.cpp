#include "base/error.h"
#include "harness/judging/judge_pool.h"
#include "harness/run/testing/loop_fake.h"

#include <atomic>
#include <barrier>
#include <future>
#include <latch>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

/// A judge that judges until it is cancelled.
class Endless : public Judge {
public:
  explicit Endless(std::promise<void>& started) : started_(started) {}
  std::vector<tasks::Evaluation> judge(std::string_view, std::string, std::size_t) override {
    started_.set_value();
    cancelled_.get_future().wait();
    return {tasks::Evaluation{}};
  }
  void cancel() override {
    if (!told_) {
      told_ = true;
      cancelled_.set_value();
    }
  }

private:
  std::promise<void>& started_;
  std::promise<void> cancelled_;
  bool told_ = false;
};

JudgePoolSetup on_one_device(JudgeFactory judges, std::function<void(JudgeResult)> done) {
  return {{std::move(judges)}, {}, 0, std::move(done)};
}

TEST(JudgePool, StopCancelsWhatRunsAndDropsTheRest) {
  const tasks::Task task = test::small_task("a");
  std::promise<void> started;
  int done = 0;
  JudgePool pool(
      on_one_device([&](const tasks::Task&) { return std::make_unique<Endless>(started); },
                    [&](JudgeResult) { ++done; }));
  pool.add({&task, 1, "x", "x.cu"});
  pool.add({&task, 2, "x", "x.cu"});
  started.get_future().wait();
  pool.stop();
  EXPECT_EQ(done, 0);
}

TEST(JudgePool, JudgesInOrderWithOneJudgePerTask) {
  const tasks::Task a = test::small_task("a");
  const tasks::Task b = test::small_task("b");
  int judges = 0;
  std::vector<std::int64_t> order;
  std::promise<void> last;
  JudgePool pool(on_one_device(
      [&](const tasks::Task&) {
        ++judges;
        return std::make_unique<test::FakeJudge>();
      },
      [&](JudgeResult result) {
        order.push_back(result.candidate);
        if (order.size() == 3) {
          last.set_value();
        }
      }));
  pool.add({&a, 1, a.baseline, "a.cu"});
  pool.add({&b, 2, b.baseline, "b.cu"});
  pool.add({&a, 3, a.baseline, "a.cu"});
  last.get_future().wait();
  pool.stop();
  EXPECT_EQ(order, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(judges, 2);
}

TEST(JudgePool, AnErrorIsReportedWithItsRemedy) {
  const tasks::Task task = test::small_task("a");
  std::promise<JudgeResult> result;
  JudgePool pool(on_one_device(
      [](const tasks::Task&) -> std::unique_ptr<Judge> { throw Error("broken", "mend it"); },
      [&](JudgeResult found) { result.set_value(std::move(found)); }));
  pool.add({&task, 1, "x", "x.cu"});
  const JudgeResult found = result.get_future().get();
  EXPECT_TRUE(found.evaluations.empty());
  EXPECT_EQ(found.error, "broken; mend it");
}

/// A judge that waits until all devices judge at the same time.
class Meeting : public Judge {
public:
  explicit Meeting(std::barrier<>& all) : all_(all) {}
  std::vector<tasks::Evaluation> judge(std::string_view, std::string, std::size_t) override {
    all_.arrive_and_wait();
    return {tasks::Evaluation{}};
  }
  void cancel() override {}

private:
  std::barrier<>& all_;
};

TEST(JudgePool, DevicesWorkAtTheSameTime) {
  const tasks::Task task = test::small_task("a");
  std::barrier<> all(2);
  std::latch done(2);
  JudgePoolSetup setup;
  setup.devices.assign(2, [&](const tasks::Task&) { return std::make_unique<Meeting>(all); });
  setup.done = [&](const JudgeResult&) { done.count_down(); };
  JudgePool pool(std::move(setup));
  pool.add({&task, 1, "x", "x.cu"});
  pool.add({&task, 2, "x", "x.cu"});
  done.wait(); // hangs if one device takes both jobs
}

/// A judge whose device is lost during its first judge().
class Lost : public Judge {
public:
  explicit Lost(std::atomic<int>& asked) : asked_(asked) {}
  std::vector<tasks::Evaluation> judge(std::string_view, std::string, std::size_t) override {
    ++asked_;
    tasks::Evaluation evaluation;
    evaluation.verdict = tasks::Verdict::Infrastructure;
    return {evaluation};
  }
  void cancel() override {}
  std::string lost_device() const override { return "cuda:1: fell off the bus"; }

private:
  std::atomic<int>& asked_;
};

TEST(JudgePool, ALostDeviceLeavesItsCandidatesToTheOthers) {
  const tasks::Task task = test::small_task("a");
  std::atomic<int> asked = 0;
  std::mutex mutex;
  std::map<std::int64_t, JudgeResult> results;
  std::latch done(20);
  JudgePoolSetup setup;
  setup.devices = {[&](const tasks::Task&) { return std::make_unique<Lost>(asked); },
                   [&](const tasks::Task&) {
                     while (asked == 0) { // until the other device has the first job
                       std::this_thread::yield();
                     }
                     return std::make_unique<test::FakeJudge>();
                   }};
  setup.done = [&](JudgeResult result) {
    const std::lock_guard lock(mutex);
    results[result.candidate] = std::move(result);
    done.count_down();
  };
  JudgePool pool(std::move(setup));
  for (int candidate = 0; candidate < 20; ++candidate) {
    pool.add({&task, candidate, task.baseline, "x.cu"});
  }
  done.wait();
  pool.stop();
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(results.size(), 20U);
  for (const auto& [candidate, result] : results) {
    EXPECT_EQ(result.error, "") << candidate;
    EXPECT_NE(result.evaluations.at(0).verdict, tasks::Verdict::Infrastructure) << candidate;
  }
}

TEST(JudgePool, SaysWhenNoDeviceIsLeft) {
  const tasks::Task task = test::small_task("a");
  std::atomic<int> asked = 0;
  std::mutex mutex;
  std::vector<std::string> errors;
  std::latch done(2);
  JudgePoolSetup setup;
  setup.devices.assign(2, [&](const tasks::Task&) { return std::make_unique<Lost>(asked); });
  setup.done = [&](const JudgeResult& result) {
    const std::lock_guard lock(mutex);
    errors.push_back(result.error);
    done.count_down();
  };
  JudgePool pool(std::move(setup));
  pool.add({&task, 1, "x", "x.cu"});
  pool.add({&task, 2, "x", "x.cu"});
  done.wait();
  EXPECT_EQ(errors,
            std::vector<std::string>(2, "no device is left to judge on: cuda:1: fell off the bus"));
}

TEST(JudgePool, CompilesAheadBeforeItJudges) {
  const tasks::Task task = test::small_task("a");
  std::mutex mutex;
  std::set<std::int64_t> compiled;
  std::vector<bool> compiled_first;
  std::latch done(5);
  JudgePoolSetup setup;
  setup.devices = {[&](const tasks::Task&) { return std::make_unique<test::FakeJudge>(); }};
  setup.compile_threads = 3;
  setup.compile_ahead = [&](const JudgeJob& job, const std::function<bool()>&) {
    const std::lock_guard lock(mutex);
    compiled.insert(job.candidate);
  };
  setup.done = [&](const JudgeResult& result) {
    const std::lock_guard lock(mutex);
    compiled_first.push_back(compiled.contains(result.candidate));
    done.count_down();
  };
  JudgePool pool(std::move(setup));
  for (int candidate = 0; candidate < 5; ++candidate) {
    pool.add({&task, candidate, task.baseline, "x.cu"});
  }
  done.wait();
  EXPECT_EQ(compiled_first, std::vector<bool>(5, true));
}

struct Preparing : test::FakeJudge {
  explicit Preparing(std::latch& latch) : prepared(latch) {}
  void prepare() override {
    prepared.count_down();
    throw Error("the task's own kernel does not compile"); // judge() must report the same error
  }
  std::latch& prepared;
};

TEST(JudgePool, PreparesEveryDeviceWhileTheFirstCandidateIsCompiled) {
  const tasks::Task task = test::small_task("a");
  std::latch prepared(2);
  std::latch done(1);
  JudgePoolSetup setup;
  setup.devices.assign(2,
                       [&](const tasks::Task&) { return std::make_unique<Preparing>(prepared); });
  setup.compile_threads = 1;
  setup.compile_ahead = [&](const JudgeJob&, const std::function<bool()>&) { prepared.wait(); };
  setup.done = [&](const JudgeResult& result) {
    EXPECT_EQ(result.error, "");
    done.count_down();
  };
  JudgePool pool(std::move(setup));
  pool.add({&task, 1, task.baseline, "x.cu"});
  done.wait();
}

} // namespace
} // namespace winnow::harness
