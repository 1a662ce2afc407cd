#include "base/error.h"
#include "base/files.h"
#include "evaluators/ceilings/ceiling_work.h"
#include "evaluators/device/cuda/compile/nvrtc.h"
#include "evaluators/device/vendors/named_gpus.h"
#include "evaluators/evaluation/compile_only.h"
#include "evaluators/evaluation/evaluation_options.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/resolve/plan_resolve.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr double kMiB = 1024.0 * 1024.0;

tasks::DeviceFacts gpu_facts(const std::string& architecture) {
  tasks::DeviceFacts facts;
  facts.architecture = architecture;
  facts.sm_count = 100;
  facts.max_threads_per_sm = 2048;
  facts.l2_bytes = std::int64_t{60} << 20;
  facts.memory_bytes = std::int64_t{100} << 30;
  return facts;
}

CeilingPlan gpu_plan_of(const std::string& architecture) {
  return ceiling_plan("cuda", gpu_facts(architecture), {});
}

std::vector<std::string> kinds(const CeilingPlan& plan) {
  std::vector<std::string> names;
  for (const RateWork& rate : plan.rates) {
    names.push_back(rate.kind);
  }
  return names;
}

const RateWork& rate_of(const CeilingPlan& plan, const std::string& kind) {
  const auto found = std::find_if(plan.rates.begin(), plan.rates.end(),
                                  [&](const RateWork& rate) { return rate.kind == kind; });
  if (found == plan.rates.end()) {
    throw Error("no rate of " + kind);
  }
  return *found;
}

TEST(CeilingPlan, TellsCacheFromMemoryByTheSizeOfTheCache) {
  const CeilingPlan plan = gpu_plan_of("sm_90a");
  ASSERT_EQ(plan.copies.size(), 11U);
  EXPECT_EQ(plan.copies.front().bytes, kMiB);
  EXPECT_EQ(plan.copies.back().bytes, 1024 * kMiB);
  double before = 0;
  for (const CopyWork& copy : plan.copies) {
    EXPECT_GT(copy.bytes, before);
    before = copy.bytes;
    const std::string expected = copy.bytes <= 30 * kMiB    ? "L2"
                                 : copy.bytes >= 240 * kMiB ? "DRAM"
                                                            : "L2 and DRAM";
    EXPECT_EQ(copy.level, expected) << copy.bytes;
    EXPECT_EQ(copy.warm, expected != "DRAM") << copy.bytes;
    EXPECT_EQ(copy.launch.passes == 1, expected == "DRAM") << copy.bytes;
    EXPECT_EQ(copy.moved, copy.bytes * static_cast<double>(copy.launch.passes));
    EXPECT_EQ(copy.bytes, static_cast<double>(copy.launch.elements) * 8);
  }
}

TEST(CeilingPlan, WithoutTheSizeOfTheCacheOnlyLargeSetsAreCopied) {
  tasks::DeviceFacts facts = gpu_facts("sm_90a");
  facts.l2_bytes = 0;
  const CeilingPlan plan = ceiling_plan("cuda", facts, {});
  ASSERT_EQ(plan.copies.size(), 3U);
  for (const CopyWork& copy : plan.copies) {
    EXPECT_EQ(copy.level, "DRAM");
  }
}

TEST(CeilingPlan, StaysWithinTheMemory) {
  tasks::DeviceFacts facts = gpu_facts("sm_90a");
  facts.memory_bytes = std::int64_t{1} << 30;
  EXPECT_EQ(ceiling_plan("cuda", facts, {}).copies.back().bytes, 512 * kMiB);
  EXPECT_EQ(ceiling_plan("cpu", facts, {0, 0, std::int64_t{1} << 30}).copies.back().bytes,
            512 * kMiB);
}

TEST(CeilingPlan, HopperUsesItsWarpgroupInstructions) {
  const CeilingPlan plan = gpu_plan_of("sm_90a");
  EXPECT_THAT(kinds(plan), ElementsAre("f32", "f64", "f16_tensor", "bf16_tensor", "tf32_tensor",
                                       "f8_tensor", "i8_tensor"));
  EXPECT_THAT(plan.no_rate, IsEmpty());
  const RateWork& f16 = rate_of(plan, "f16_tensor");
  EXPECT_EQ(f16.launch.file, "tensor_wgmma.cu");
  // 100 multiprocessors, 2 warpgroups, 512 products of 64 x 256 x 16.
  EXPECT_EQ(f16.operations, 100.0 * 2 * 512 * 2 * 64 * 256 * 16);
  EXPECT_EQ(rate_of(plan, "tf32_tensor").operations * 2, f16.operations);
  EXPECT_EQ(rate_of(plan, "f8_tensor").operations, f16.operations * 2);
}

TEST(CeilingPlan, OtherGpusUseThoseOfAWarp) {
  const CeilingPlan plan = gpu_plan_of("sm_80");
  const RateWork& f16 = rate_of(plan, "f16_tensor");
  EXPECT_EQ(f16.launch.file, "tensor_mma.cu");
  // 100 multiprocessors, 32 warps, 256 rounds of 8 products of 16 x 8 x 16.
  EXPECT_EQ(f16.operations, 100.0 * 32 * 256 * 8 * 2 * 16 * 8 * 16);
  EXPECT_THAT(plan.no_rate.at("f8_tensor"), HasSubstr("sm_89"));
  EXPECT_THAT(gpu_plan_of("sm_89").no_rate, IsEmpty());
  EXPECT_THAT(gpu_plan_of("sm_120").no_rate, IsEmpty());
}

TEST(CeilingPlan, SaysWhyThereIsNoTensorRate) {
  EXPECT_THAT(gpu_plan_of("sm_75").no_rate.at("f16_tensor"), HasSubstr("sm_80"));
  EXPECT_THAT(gpu_plan_of("sm_90").no_rate.at("f16_tensor"), HasSubstr("sm_90a"));
  EXPECT_THAT(gpu_plan_of("sm_100a").no_rate.at("f8_tensor"), HasSubstr("tcgen05"));
  EXPECT_THAT(gpu_plan_of("gfx90a").no_rate.at("i8_tensor"), HasSubstr("gfx90a"));
  EXPECT_THAT(kinds(gpu_plan_of("gfx90a")), ElementsAre("f32", "f64"));
  const CeilingPlan cpu = ceiling_plan("cpu", tasks::DeviceFacts{}, {});
  EXPECT_THAT(kinds(cpu), ElementsAre("f32", "f64"));
  EXPECT_THAT(cpu.no_rate.at("f16_tensor"), HasSubstr("no tensor cores"));
  EXPECT_EQ(cpu.no_rate.size(), 5U);
}

TEST(CeilingPlan, NamesTheLevelsOfACpu) {
  tasks::DeviceFacts facts;
  facts.sm_count = 4;
  const CpuCaches caches{32 << 10, 1 << 20, 16 << 20};
  std::vector<std::string> levels;
  for (const CopyWork& copy : ceiling_plan("cpu", facts, caches).copies) {
    levels.push_back(copy.level);
  }
  EXPECT_THAT(levels, ElementsAre("L1", "L1", "L2", "L2", "L3", "caches and DRAM", "DRAM"));
  const auto unknown = ceiling_plan("cpu", facts, {}).copies;
  EXPECT_EQ(unknown.front().level, "caches and DRAM");
  EXPECT_EQ(unknown.back().level, "DRAM");
}

TEST(CeilingKernels, ParseWithoutMistakes) {
  for (const char* file : {"cpu.cu", "gpu.cu", "tensor_mma.cu", "tensor_wgmma.cu"}) {
    const auto parsed = tasks::parse_kernel_file(ceiling_kernel(file), file);
    EXPECT_TRUE(parsed.kernel_file) << to_string(parsed.errors.front());
    EXPECT_THAT(parsed.warnings, IsEmpty()) << file;
  }
  EXPECT_THROW(ceiling_kernel("none.cu"), Error);
}

/// Compiles all launches that `architecture` asks of one file. Needs NVRTC but no GPU.
void expect_compiles(const std::string& file, const std::string& architecture) {
  const Availability nvrtc = probe_nvrtc();
  if (!nvrtc.ok) {
    GTEST_SKIP() << nvrtc.why;
  }
  const CeilingPlan plan = gpu_plan_of(architecture);
  std::vector<CeilingLaunch> launches{plan.nothing, plan.copies.front().launch};
  for (const RateWork& rate : plan.rates) {
    launches.push_back(rate.launch);
  }
  std::erase_if(launches, [&](const CeilingLaunch& launch) { return launch.file != file; });
  ASSERT_THAT(launches, Not(IsEmpty()));
  const TemporaryDirectory cache("ceilings-test");
  EvaluationOptions options;
  options.cache = cache.path();
  const tasks::Evaluation evaluation =
      compile_only(ceiling_task(launches), ceiling_kernel(file), file,
                   {gpu_of_architecture("cuda", architecture)}, options);
  EXPECT_EQ(evaluation.verdict, tasks::Verdict::NotJudged) << evaluation.detail;
  EXPECT_THAT(evaluation.build.log, Not(HasSubstr("serialized")));
  EXPECT_THAT(evaluation.build.kernels, Not(IsEmpty()));
  for (const tasks::KernelResources& kernel : evaluation.build.kernels) {
    EXPECT_EQ(kernel.spill_store_bytes, 0) << kernel.kernel;
  }
}

TEST(CeilingKernels, CopyAndPlainRatesCompileForHopper) {
  expect_compiles("gpu.cu", "sm_90a");
}

TEST(CeilingKernels, WarpgroupRatesCompileForHopper) {
  expect_compiles("tensor_wgmma.cu", "sm_90a");
}

TEST(CeilingKernels, WarpRatesCompileForAda) {
  expect_compiles("tensor_mma.cu", "sm_89");
}

} // namespace
} // namespace winnow::evaluators
