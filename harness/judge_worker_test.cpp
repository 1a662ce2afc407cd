#include "base/error.h"
#include "harness/judge_worker.h"
#include "harness/loop_doubles.h"

#include <future>

#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

/// Judges until it is cancelled.
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

TEST(JudgeWorker, StopCancelsWhatRunsAndDropsTheRest) {
  const tasks::Task task = test::small_task("a");
  std::promise<void> started;
  int done = 0;
  JudgeWorker worker([&](const tasks::Task&) { return std::make_unique<Endless>(started); },
                     [&](JudgeResult) { ++done; });
  worker.add({&task, 1, "x", "x.cu"});
  worker.add({&task, 2, "x", "x.cu"});
  started.get_future().wait();
  worker.stop();
  EXPECT_EQ(done, 0);
}

TEST(JudgeWorker, JudgesInOrderWithOneJudgePerTask) {
  const tasks::Task a = test::small_task("a");
  const tasks::Task b = test::small_task("b");
  int judges = 0;
  std::vector<std::int64_t> order;
  std::promise<void> last;
  JudgeWorker worker(
      [&](const tasks::Task&) {
        ++judges;
        return std::make_unique<test::FakeJudge>();
      },
      [&](JudgeResult result) {
        order.push_back(result.candidate);
        if (order.size() == 3) {
          last.set_value();
        }
      });
  worker.add({&a, 1, a.baseline, "a.cu"});
  worker.add({&b, 2, b.baseline, "b.cu"});
  worker.add({&a, 3, a.baseline, "a.cu"});
  last.get_future().wait();
  worker.stop();
  EXPECT_EQ(order, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(judges, 2);
}

TEST(JudgeWorker, AnErrorIsReportedWithItsRemedy) {
  const tasks::Task task = test::small_task("a");
  std::promise<JudgeResult> result;
  JudgeWorker worker(
      [](const tasks::Task&) -> std::unique_ptr<Judge> { throw Error("broken", "mend it"); },
      [&](JudgeResult found) { result.set_value(std::move(found)); });
  worker.add({&task, 1, "x", "x.cu"});
  const JudgeResult found = result.get_future().get();
  EXPECT_TRUE(found.evaluations.empty());
  EXPECT_EQ(found.error, "broken; mend it");
}

} // namespace
} // namespace winnow::harness
