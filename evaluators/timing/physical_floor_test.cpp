#include "evaluators/timing/physical_floor.h"
#include "tasks/catalogue.h"

#include <cstdio>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using tasks::Precision;

tasks::DeviceFacts h200() {
  tasks::DeviceFacts facts;
  facts.architecture = "sm_90a";
  facts.sm_count = 132;
  facts.clock_mhz = 1980;
  facts.l2_bytes = std::int64_t{60} << 20U;
  facts.peak_bytes_per_second = 4.8e12;
  return facts;
}

/// The floor of work that consists of these operations only.
double arithmetic_ns(double operations, Precision precision, const tasks::DeviceFacts& facts) {
  return physical_floor({0, 0, operations, precision}, facts, std::nullopt).ns();
}

TEST(PhysicalFloor, OfACpuIsWhatItsCachesCanDo) {
  tasks::DeviceFacts cpu;
  EXPECT_DOUBLE_EQ(physical_floor({512, 256, 0}, cpu, {}).ns(), 1.0);
  EXPECT_DOUBLE_EQ(physical_floor({512, 256, 3840}, cpu, {}).ns(), 10.0);
  cpu.sm_count = 2;
  EXPECT_DOUBLE_EQ(physical_floor({512, 256, 0}, cpu, {}).ns(), 0.5);
}

TEST(PhysicalFloor, ReadsFromDramAndLeavesItsOutputInTheCache) {
  tasks::DeviceFacts gpu = h200();
  gpu.l2_bytes = 50'000'000;
  EXPECT_DOUBLE_EQ(physical_floor({4.8e9, 50e6, 0}, gpu, {}).ns(), 1e6);
  EXPECT_DOUBLE_EQ(physical_floor({4.8e9, 50e6 + 4.8e6, 0}, gpu, {}).ns(), 1.001e6);
}

TEST(PhysicalFloor, SaysWhatCounts) {
  const PhysicalFloor floor = physical_floor({100e6, 100e6, 1e9, Precision::F32}, h200(), {});
  EXPECT_EQ(floor.memory_peak, "DRAM's peak");
  EXPECT_EQ(floor.arithmetic_peak, "tensor peak, f32 by 3 f16 products");
  EXPECT_DOUBLE_EQ(floor.bytes, 200e6 - 60 * 1048576.0);
}

TEST(PhysicalFloor, TakesTheLargerOfFactsAndMeasurements) {
  profiling::Ceilings measured;
  measured.bandwidth = {{1e6, 8e12, "L2"}, {1e9, 4e12, "DRAM"}};
  measured.rates["f16_tensor"] = 1e12;
  const TaskWork work{4.8e9, 0, 1e9, Precision::F16};
  EXPECT_DOUBLE_EQ(physical_floor(work, h200(), measured).memory_ns, 1e6);
  EXPECT_DOUBLE_EQ(physical_floor(work, h200(), measured).arithmetic_ns,
                   arithmetic_ns(1e9, Precision::F16, h200()));
  measured.bandwidth.back().bytes_per_second = 9.6e12;
  measured.rates["bf16_tensor"] = 1e18;
  EXPECT_DOUBLE_EQ(physical_floor(work, h200(), measured).memory_ns, 5e5);
  EXPECT_DOUBLE_EQ(physical_floor(work, h200(), measured).arithmetic_ns, 1);
}

TEST(PhysicalFloor, KnowsTheRatesOfPrecisions) {
  const double per_ns = 132 * 1.98;
  for (const Precision half : {Precision::F16, Precision::BF16, Precision::TF32}) {
    EXPECT_DOUBLE_EQ(arithmetic_ns(4096 * per_ns, half, h200()), 1);
  }
  for (const Precision byte : {Precision::Int, Precision::F8E4M3, Precision::F8E5M2}) {
    EXPECT_DOUBLE_EQ(arithmetic_ns(8192 * per_ns, byte, h200()), 1);
  }
  EXPECT_DOUBLE_EQ(arithmetic_ns(4096 * per_ns, Precision::F32, h200()), 3);
  EXPECT_DOUBLE_EQ(arithmetic_ns(4096 * per_ns, Precision::F64, h200()), 15);
}

TEST(PhysicalFloor, KnowsTheRatesOfArchitectures) {
  // Dense f16 TFLOP/s from the white papers, at the boost clock of the board.
  const struct {
    const char* architecture;
    std::int64_t sm_count;
    double clock_mhz;
    double teraflops;
  } boards[]{{"sm_70", 80, 1530, 125},     {"sm_75", 40, 1590, 65},
             {"sm_80", 108, 1410, 312},    {"sm_86", 82, 1695, 142},
             {"sm_89", 128, 2520, 330.3},  {"sm_90a", 132, 1830, 989.4},
             {"sm_100a", 148, 1850, 2250}, {"sm_120a", 170, 2407, 419}};
  for (const auto& board : boards) {
    tasks::DeviceFacts facts;
    facts.architecture = board.architecture;
    facts.sm_count = board.sm_count;
    facts.clock_mhz = board.clock_mhz;
    const double allowed = 1e-3 / arithmetic_ns(1, Precision::F16, facts);
    EXPECT_GT(allowed, 0.98 * board.teraflops) << board.architecture;
    EXPECT_LT(allowed, 1.4 * board.teraflops) << board.architecture;
  }
}

TEST(PhysicalFloor, TakesTheFastestWhereItKnowsNothing) {
  tasks::DeviceFacts known = h200();
  for (const char* architecture : {"sm_990", "gfx942"}) {
    tasks::DeviceFacts facts = known;
    facts.architecture = architecture;
    EXPECT_LT(arithmetic_ns(1e9, Precision::F16, facts),
              0.5 * arithmetic_ns(1e9, Precision::F16, known));
  }
  known.clock_mhz = 0;
  EXPECT_LT(arithmetic_ns(1e9, Precision::F16, known), arithmetic_ns(1e9, Precision::F16, h200()));
  known.architecture = "gfx942";
  known.peak_bytes_per_second = 5e12;
  EXPECT_DOUBLE_EQ(physical_floor({10e6, 10e6, 0}, known, {}).ns(), 1000) << "from its caches";
  known.peak_bytes_per_second = 0;
  EXPECT_GT(physical_floor({10e6, 10e6, 0}, known, {}).ns(), 0);
}

/// Medians in us, measured on an H200 with kernels whose outputs were correct.
struct KnownTime {
  const char* task;
  const char* shape;
  double best_us;
  const char* by;
};
constexpr KnownTime kKnown[]{
    {"axpy", "search/2", 59.4, "baseline"},       {"axpy", "search/3", 147.5, "torch.compile"},
    {"row_softmax", "search/2", 63.4, "a model"}, {"row_softmax", "search/3", 124.4, "a model"},
    {"layernorm", "search/2", 31.6, "a model"},   {"layernorm", "search/3", 38.8, "a model"},
    {"stencil2d", "search/2", 33.1, "a model"},   {"stencil2d", "search/3", 58.2, "a model"},
    {"reduce_sum", "search/2", 55.7, "baseline"}, {"reduce_sum", "search/3", 154, "baseline"},
    {"gemm_f16", "search/2", 181.4, "cuBLASLt"},  {"gemm_f16", "search/3", 21.7, "cuBLASLt"},
    {"gemm_bf16", "search/2", 176.6, "cuBLASLt"}, {"gemm_tf32", "search/2", 341.4, "cuBLASLt"},
    {"gemm_f8", "search/2", 102.3, "cuBLASLt"},   {"gemm_i8", "search/2", 92.8, "cuBLASLt"},
    {"gemm_f32", "search/2", 2685, "cuBLASLt"},
};

PhysicalFloor floor_of(const std::string& name, const std::string& shape_id) {
  const tasks::Task task =
      tasks::find_task(std::filesystem::path(WINNOW_SOURCE_DIR) / "tasks/catalogue", name);
  for (const tasks::Shape& shape : task.shapes) {
    if (shape.id == shape_id) {
      return physical_floor(least_work(task, shape), h200(), {});
    }
  }
  ADD_FAILURE() << name << " has no shape " << shape_id;
  return {};
}

TEST(PhysicalFloor, OfAnH200IsBelowEveryKnownTime) {
  for (const KnownTime& known : kKnown) {
    const PhysicalFloor floor = floor_of(known.task, known.shape);
    const double ratio = 1e-3 * floor.ns() / known.best_us;
    std::printf("%-12s %s  floor %7.1f us  best %7.1f us  ratio %.2f  (%s)\n", known.task,
                known.shape, 1e-3 * floor.ns(), known.best_us, ratio, known.by);
    EXPECT_LT(ratio, kFloorMargin) << known.task;
    const bool slow = std::string_view(known.by) == "baseline";
    EXPECT_TRUE(slow || floor.memory_ns < floor.arithmetic_ns || ratio > 0.44) << known.task;
  }
}

TEST(PhysicalFloor, OfAnH200CatchesASumThatWasNotFormed) {
  EXPECT_GT(kFloorMargin * floor_of("reduce_sum", "search/3").ns(), 28'800);
}

TEST(PhysicalFloor, LeavesOutTheOperationsOfAModule) {
  tasks::Task task =
      tasks::find_task(std::filesystem::path(WINNOW_SOURCE_DIR) / "tasks/catalogue", "gemm_f16");
  const tasks::Shape& shape = task.shapes.front();
  EXPECT_GT(least_work(task, shape).operations, 0);
  task.torch.emplace();
  EXPECT_EQ(least_work(task, shape).operations, 0);
  EXPECT_GT(least_work(task, shape).read_bytes, 0);
  EXPECT_GT(stated_work(task, shape).operations, 0);
}

TEST(PhysicalFloor, LooksForFactorsOfAByte) {
  const tasks::Task task =
      tasks::find_task(std::filesystem::path(WINNOW_SOURCE_DIR) / "tasks/catalogue", "gemm_w4");
  EXPECT_EQ(least_work(task, task.shapes.front()).precision, Precision::Int);
}

} // namespace
} // namespace winnow::evaluators
