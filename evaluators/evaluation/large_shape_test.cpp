// Whoever passes tensors between processes says alike which shape is too large for that.
#include "base/error.h"
#include "base/files.h"
#include "evaluators/evaluation/evaluator.h"
#include "evaluators/evaluation/planned_case.h"
#include "evaluators/evaluation/reference_check.h"
#include "evaluators/host/devices.h"
#include "evaluators/selftest/reference_run.h"
#include "evaluators/torch/torch_question.h"
#include "tasks/catalogue.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class LargeShape : public testing::Test {
protected:
  void SetUp() override {
    options_.cache = cache_.path();
    options_.device = "cpu";
    try {
      host_ = open_device(select_device("cpu"), options_, options_.run_timeout);
    } catch (const DeviceUnavailable& error) {
      GTEST_SKIP() << error.what();
    }
    large_ = task_.shapes_of(tasks::ShapeSet::Search, "cpu").at(0);
    large_.axes["n"] = std::int64_t{1} << 30U;
  }
  static std::string refusal(const std::function<void()>& act) {
    try {
      act();
    } catch (const UsageError& error) {
      return std::string(error.what()) + "; " + error.remedy();
    }
    return "no refusal";
  }
  /// `tensors`: what the bytes are for.
  static auto says(const std::string& bytes, const std::string& tensors,
                   const std::string& available) {
    return AllOf(HasSubstr("/task.toml:"), HasSubstr(": axpy: search/0 (n=1073741824"),
                 HasSubstr(" needs " + bytes + " bytes for " + tensors),
                 HasSubstr("but Winnow's processes share " + available + "; "),
                 HasSubstr("smaller sizes"));
  }

  TemporaryDirectory cache_{"large-shape-test"};
  EvaluationOptions options_;
  std::shared_ptr<DeviceHost> host_;
  tasks::Task task_ = tasks::find_task(std::string(WINNOW_SOURCE_DIR) + "/tasks/catalogue", "axpy");
  tasks::Shape large_;
};

TEST_F(LargeShape, IsNamedByThoseWhoJudge) {
  const std::string room = "4294967296";
  TaskOnDevice on_device(task_, host_, options_);
  PlannedCase planned;
  planned.shape = large_;
  EXPECT_EQ(run_cases_of(on_device, {planned}).size(), 1U) << "4 GiB fit";
  EXPECT_THAT(refusal([&] {
                run_cases_of(on_device, {planned, planned});
              }),
              says("8589934592", "its outputs and those of the runs before it", room));
  large_.axes["n"] += 16;
  planned.shape = large_;
  large_.axes["n"] -= 16;
  EXPECT_THAT(refusal([&] { run_cases_of(on_device, {planned}); }),
              HasSubstr("(n=1073741840, alpha=2.5) needs 4294967360 bytes for its outputs, but"));
  ReferenceCheck check(task_, host_, options_);
  EXPECT_THAT(refusal([&] { check.compare(planned.shape, 1, {}); }),
              HasSubstr(" needs 4294967360 bytes for its outputs, but"));
}

TEST_F(LargeShape, IsNamedInTheVerdictWithARemedy) {
  options_.timing = options_.promotion = options_.check = false;
  for (tasks::Shape& shape : task_.shapes) {
    shape.axes["n"] += shape.id == "search/0" ? std::int64_t{1} << 30U : 0;
  }
  Evaluator evaluator(task_, host_, options_);
  const tasks::Evaluation judged = evaluator.evaluate_text(task_.baseline, "kernel.cu");
  EXPECT_EQ(judged.verdict, tasks::Verdict::Infrastructure);
  EXPECT_THAT(judged.detail, AllOf(HasSubstr(": axpy: search/0 (n=1074003968, alpha=2.5) needs "),
                                   HasSubstr("; state smaller sizes for this shape")));
}

TEST_F(LargeShape, IsNamedByTheSelftest) {
  TaskOnDevice on_device(task_, host_, options_);
  ReferenceRun runner(on_device);
  const auto look = [&] { // the inputs in 4 bytes, z and its magnitude in 8
    runner.look({large_, {}}, ReferenceRun::Parts::OutputsAndMagnitudes, [](auto) {});
  };
  EXPECT_THAT(
      refusal(look),
      says("25769803776", "the inputs and the reference's answers of its runs", "4294967296"));
}

TEST_F(LargeShape, IsNamedInTheQuestionToPyTorch) {
  task_.torch.emplace();
  EXPECT_THAT(refusal([&] { torch_question(task_, large_, 1, 1000); }),
              says("25769803776", "its inputs and the answers of PyTorch", "1000"));
}

} // namespace
} // namespace winnow::evaluators
