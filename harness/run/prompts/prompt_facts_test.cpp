#include "evaluators/evaluation/profile.h"
#include "harness/run/prompts/prompt_facts.h"
#include "tasks/catalogue.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;

tasks::Task gemm() {
  return tasks::find_task(std::filesystem::path(WINNOW_SOURCE_DIR) / "tasks/catalogue", "gemm_f16");
}

agents::ProposalContext on_h200(const tasks::Task& task) {
  agents::ProposalContext context;
  context.task = &task;
  context.device = "cuda";
  context.facts.architecture = "sm_90a";
  context.facts.sm_count = 132;
  context.facts.clock_mhz = 1980;
  context.facts.l2_bytes = 62914560;
  context.facts.peak_bytes_per_second = 4.81e12;
  return context;
}

double ceiling(const agents::ProposalContext& context, const std::string& name) {
  for (const agents::DeviceCeiling& one : context.ceilings) {
    if (one.name == name) {
      return one.value;
    }
  }
  return 0;
}

std::string profile_json_of(const tasks::Shape& shape) {
  evaluators::ProfiledShape profiled;
  profiled.shape_id = shape.id;
  profiling::SpeedOfLight speed;
  speed.least_ns = 130e3;
  speed.bound = "16-bit tensor peak";
  speed.bytes = 1e8;
  speed.operations = 1.4e11;
  speed.launch_ns = 2000;
  speed.copy_ns = 27e3;
  speed.copy_level = "DRAM";
  speed.rate_ns = 202e3;
  speed.rate_kind = "f16_tensor";
  profiled.shape.speed_of_light = speed;
  return nlohmann::json::array({profiled}).dump();
}

TEST(PromptFacts, ComeFromThePeaksWithoutAProfile) {
  const tasks::Task task = gemm();
  agents::ProposalContext context = on_h200(task);
  add_prompt_facts(context);
  ASSERT_EQ(context.bounds.size(), 2U);
  EXPECT_EQ(context.bounds[0].shape, "m=4096, n=4096, k=4096");
  EXPECT_EQ(context.bounds[0].limiter, "16-bit tensor peak");
  EXPECT_THAT(context.bounds[0].least_ns, DoubleNear(128.4e3, 100));
  EXPECT_THAT(ceiling(context, "peak of 16-bit tensor operations"), DoubleNear(1.0705e15, 1e12));
  EXPECT_THAT(ceiling(context, "peak of f32 operations outside of the tensor cores"),
              DoubleNear(6.69e13, 1e11));
}

TEST(PromptFacts, TellTheTimeOfExponentialsWhereItMatters) {
  const tasks::Task task = tasks::find_task(
      std::filesystem::path(WINNOW_SOURCE_DIR) / "tasks/catalogue", "attention_causal");
  agents::ProposalContext context = on_h200(task);
  add_prompt_facts(context);
  // 2 * 32 * 4096 * 4097 / 2 exponentials by 16 * 132 a cycle at 1.98 GHz.
  EXPECT_THAT(context.bounds[0].special_ns, DoubleNear(128.4e3, 100));
  const tasks::Task product = gemm();
  agents::ProposalContext without = on_h200(product);
  add_prompt_facts(without);
  EXPECT_EQ(without.bounds[0].special_ns, 0);
}

TEST(PromptFacts, TakeMeasuredValuesFromTheBaselinesProfile) {
  const tasks::Task task = gemm();
  agents::ProposalContext context = on_h200(task);
  context.baseline.emplace().evaluation.profile =
      profile_json_of(task.shapes_of(tasks::ShapeSet::Search, "cuda")[0]);
  add_prompt_facts(context);
  EXPECT_EQ(context.bounds[0].least_ns, 130e3);
  EXPECT_THAT(context.bounds[0].measured, HasSubstr("a plain copy of the same 100 MB"));
  EXPECT_EQ(context.bounds[1].measured, "") << "it has no profile";
  EXPECT_THAT(ceiling(context, "a plain copy (DRAM), measured"), DoubleNear(4e12, 1e9));
  EXPECT_THAT(ceiling(context, "f16_tensor operations, measured"), DoubleNear(7e14, 1e10));
  EXPECT_EQ(ceiling(context, "an empty launch, measured"), 2000);
}

TEST(PromptFacts, TellTheTimeOfEachStep) {
  evaluators::ProfiledShape profiled;
  profiled.shape.shape = "n=64";
  profiled.launch = {"attend<4>", 2, 132, 384, 168, 197632, 0.19, 1};
  profiled.steps = {{"fill of sums", 1, 2'100}, {"attend<4>", 1, 81'300}, {"merge", 2, 12'000}};
  tasks::Evaluation evaluation;
  evaluation.profile = nlohmann::json::array({profiled}).dump();
  EXPECT_THAT(launch_lines(evaluation),
              HasSubstr("\n  steps, each by itself with warm caches: attend<4> 81.3 us, merge "
                        "12.0 us (2 times), fill of sums 2.10 us\n"));
}

TEST(PromptFacts, SayHowTheLaunchFillsTheDevice) {
  evaluators::ProfiledShape profiled;
  profiled.shape.shape = "n=64";
  EXPECT_EQ(launch_lines({}), "");
  profiled.launch = {"gemm<4>", 2, 132, 384, 168, 197632, 0.19, 1};
  tasks::Evaluation evaluation;
  evaluation.profile = nlohmann::json::array({profiled}).dump();
  EXPECT_EQ(
      launch_lines(evaluation),
      "n=64: launches of a run: 2; the largest is gemm<4>, with 132 blocks of 384 threads, 168 "
      "registers a thread at its launch, 193.0 KiB shared memory a block; resident blocks an SM: "
      "1\n");
  tasks::KernelResources kernel;
  evaluation.build.kernels = {kernel};
  EXPECT_THAT(launch_lines(evaluation), HasSubstr("Compiler: no spills.\n"));
  evaluation.build.kernels[0].spill_store_bytes = 16;
  EXPECT_THAT(launch_lines(evaluation),
              HasSubstr("Compiler: up to 16 bytes of spills a thread.\n"));
}

TEST(PromptFacts, SayHowAFamilyDependsOnItsParameters) {
  const std::string text =
      "/*@winnow\n{\"params\": {\"TILE\": [16, 32, 8]}, \"launches\": [{\"kernel\": "
      "\"k\", \"grid\": 1, \"block\": 1, \"args\": []}]}\n@*/\n"
      "__global__ void k() {}\n";
  const auto trial = [](std::int64_t tile, double nanoseconds) {
    tasks::Evaluation evaluation;
    evaluation.parameters = {{"TILE", tile}};
    tasks::CaseResult& timed = evaluation.cases.emplace_back();
    timed.shape = "n=64";
    timed.samples_ns = {nanoseconds};
    timed.incumbent_samples_ns = {100};
    return evaluation;
  };
  EXPECT_EQ(surface_text({}, text), "");
  const std::string said = surface_text({trial(32, 400), trial(8, 200), trial(32, 50)}, text);
  EXPECT_THAT(said, HasSubstr("best overall TILE=32: 2.00x the default; worst TILE=8: 0.50x"));
}

TEST(PromptFacts, AreNoneForTheCpu) {
  const tasks::Task task = gemm();
  agents::ProposalContext context;
  context.task = &task;
  add_prompt_facts(context);
  EXPECT_TRUE(context.bounds.empty());
  EXPECT_TRUE(context.ceilings.empty());
}

} // namespace
} // namespace winnow::harness
