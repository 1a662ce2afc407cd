#include "base/error.h"
#include "harness/baseline/gpu_comparison.h"
#include "harness/baseline/testing/gpu_lanes_fake.h"
#include "tests/support/json_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using test::GpuFake;
using testing::HasSubstr;
using testing::IsEmpty;

// The times of gemm_f16 on a host with four H100s.
const std::vector<GpuFake>& four_gpus() {
  static const std::vector<GpuFake> gpus{
      {"GPU-1", 17'032'580}, {"GPU-2", 16'980'750}, {"GPU-3", 17'102'880}, {"GPU-4", 17'096'370}};
  return gpus;
}

evaluators::EvaluationRequest request_of_baseline() {
  tasks::Task task;
  task.name = task.digest = "gemm_f16";
  task.baseline = "// baseline";
  evaluators::EvaluationRequest request;
  request.task = std::make_shared<const tasks::Task>(task);
  request.text = task.baseline;
  return request;
}

std::vector<tasks::Evaluation> judged_on(const std::vector<GpuFake>& gpus, int repeats,
                                         std::size_t wanted) {
  evaluators::OneByOne evaluations(test::lanes_of(gpus));
  return judge_on_each_gpu(evaluations, request_of_baseline(), wanted, repeats).value();
}

std::string error_of(const std::vector<GpuFake>& gpus) {
  try {
    gpu_comparison_json(*request_of_baseline().task, judged_on(gpus, 1, 2));
    return "none";
  } catch (const Error& error) {
    return std::string(error.what());
  }
}

evaluators::DeviceReport device(const std::string& kind, const std::string& id,
                                const std::string& name, bool works = true) {
  evaluators::DeviceReport report;
  report.kind = kind;
  report.id = id;
  report.name = name;
  report.availability = works ? Availability::yes("") : Availability::no("broken", "");
  return report;
}

TEST(GpuComparison, TakesAllGpusOfTheFirstModelThatWorks) {
  const auto cpu = device("cpu", "cpu", "a CPU");
  EXPECT_EQ(gpus_of_one_model({cpu}), "");
  EXPECT_EQ(gpus_of_one_model({cpu, device("cuda", "cuda", "", false)}), "");
  EXPECT_EQ(gpus_of_one_model({cpu, device("cuda", "cuda:0", "H100", false),
                               device("cuda", "cuda:1", "H100"), device("cuda", "cuda:2", "L4"),
                               device("cuda", "cuda:3", "H100"), device("hip", "hip:0", "H100")}),
            "cuda:1,cuda:3");
}

TEST(GpuComparison, JudgesTheBaselineOnEachGpu) {
  const auto judged = judged_on(four_gpus(), 3, 4);
  EXPECT_EQ(judged.size(), 12U);
  const auto document = gpu_comparison_json(*request_of_baseline().task, judged);
  ASSERT_EQ(document["gpus"].size(), 4U);
  EXPECT_EQ(document["gpus"][0]["device_uuid"], "GPU-2");
  EXPECT_EQ(document["gpus"][0]["relative_time"], 1);
  EXPECT_EQ(document["gpus"][3]["device_uuid"], "GPU-3");
  EXPECT_EQ(document["gpus"][3]["evaluations"], 3);
  EXPECT_NEAR(document["between"].get<double>(), 0.00719, 0.00001);
  EXPECT_EQ(document["within"], 0);
  const std::string text = gpu_comparison_text(document);
  EXPECT_THAT(text, HasSubstr("gemm_f16 on cuda (NVIDIA H100)\n"));
  EXPECT_THAT(text, HasSubstr("GPU-3  CUDA 13.0   17102.88"));
  EXPECT_THAT(text, HasSubstr("+0.72 %"));
  EXPECT_THAT(text, HasSubstr("GPUs of this model differ by up to 0.72 % in the time of "
                              "baseline.cu (4 GPUs, 12 evaluations"));
}

TEST(GpuComparison, RepeatsUntilEachGpuHasItsShare) {
  // Two GPUs where three are expected: the third one never answers.
  EXPECT_EQ(judged_on({{"GPU-1", 1}, {"GPU-2", 1}}, 2, 4).size(), 24U) << "six rounds of four";
}

TEST(GpuComparison, SaysWhatIsWrong) {
  EXPECT_THAT(error_of({{"GPU-1", 1}}), HasSubstr("all evaluations were made on one GPU"));
  EXPECT_THAT(error_of({{"", 1}, {"GPU-2", 1}}), HasSubstr("does not tell the UUID"));
  EXPECT_THAT(error_of({{"GPU-1", 1, tasks::Verdict::Wrong}, {"GPU-2", 1}}),
              HasSubstr("the baseline of gemm_f16 is 'wrong' on cuda:0 NVIDIA H100: y is wrong"));
}

TEST(GpuComparison, EndsWhenItIsInterrupted) {
  evaluators::OneByOne evaluations(test::lanes_of(four_gpus()));
  evaluations.interrupt();
  EXPECT_EQ(judge_on_each_gpu(evaluations, request_of_baseline(), 4, 1), std::nullopt);
}

TEST(JsonDocumentation, ListsEveryFieldOfAGpuComparison) {
  const winnow::test::JsonPage page(WINNOW_SOURCE_DIR);
  EXPECT_THAT(
      page.missing(gpu_comparison_json(*request_of_baseline().task, judged_on(four_gpus(), 1, 4))),
      IsEmpty());
}

} // namespace
} // namespace winnow::harness
