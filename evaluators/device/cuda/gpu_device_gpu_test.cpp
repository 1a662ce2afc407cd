// Tests the GPU device in normal operation and after a refused launch, which the context survives.
#include "evaluators/device/cuda/cuda_gpu_test.h"
#include "evaluators/device/inspect/gpu_module.h"
#include "tasks/inputs/input_generator.h"
#include "tasks/plan/resolve/occupancy.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

using tasks::DType;
using tasks::GeneratorSpec;
using tasks::Verdict;
using testing::HasSubstr;
using testing::StartsWith;
using Kind = GeneratorSpec::Kind;

TEST_F(CudaGpuTest, ProbeTravelsAsJson) {
  const nlohmann::json json = probe_;
  const auto again = nlohmann::json::parse(json.dump()).get<DeviceReport>();
  EXPECT_EQ(again.uuid, probe_.uuid);
  EXPECT_EQ(again.facts.architecture, probe_.facts.architecture);
  EXPECT_EQ(again.facts.peak_bytes_per_second, probe_.facts.peak_bytes_per_second);
  EXPECT_THAT(probe_.uuid, StartsWith("GPU-"));
  EXPECT_GT(probe_.facts.peak_bytes_per_second, 1e11) << json.dump(2);
  EXPECT_GT(probe_.facts.clock_mhz, 500);
  EXPECT_GT(probe_.facts.l2_bytes, 1 << 20) << json.dump(2);
}

TEST_F(CudaGpuTest, DrawsAsTheHostDoes) {
  const auto device = open("__global__ void k() {}", {"k"});
  constexpr std::size_t kCount = 300007;
  for (const DType dtype : tasks::all_dtypes()) {
    for (const GeneratorSpec& spec :
         {GeneratorSpec{Kind::Normal, 0.1, 3.3}, GeneratorSpec{Kind::Uniform, -0.7, 1.9},
          GeneratorSpec{Kind::HeavyTail, 100, 0.3}, GeneratorSpec{Kind::SmallIntegers, -40, 90},
          GeneratorSpec{Kind::Index, 1000003, 0}, GeneratorSpec{Kind::Constant, 0.1, 0},
          GeneratorSpec{Kind::LogUniform, -20, 20}, GeneratorSpec{Kind::Sparse, 0.3, 2},
          GeneratorSpec{Kind::Ties, 5, 0.3}, GeneratorSpec{Kind::Permutation, 77, 0},
          GeneratorSpec{Kind::OneHot, 9, 0}, GeneratorSpec{Kind::Denormal, 0x1p-126, 0},
          GeneratorSpec{Kind::Special, 0.2, 1},
          GeneratorSpec{Kind::CsrRows, 1e6, 0.7, {kCount - 1, 4096, 7}},
          GeneratorSpec{Kind::CsrColumns, kCount, 0.7, {5000, 4096, 7}}}) {
      const std::size_t size = tasks::size_bytes(dtype);
      const std::size_t x = device->allocate("x", kCount * size, true);
      device->generate(x, spec, dtype, 77);
      std::vector<std::byte> expected(kCount * size);
      tasks::generate_tensor(spec, dtype, 77, "x", expected.data(), kCount);
      const auto drawn = get<std::byte>(*device, x, kCount * size);
      const auto differ = std::mismatch(drawn.begin(), drawn.end(), expected.begin()).first;
      if (differ != drawn.end()) {
        const auto element = static_cast<std::size_t>(differ - drawn.begin()) / size;
        ADD_FAILURE() << to_string(dtype) << ", kind " << static_cast<int>(spec.kind)
                      << ": element " << element << " is "
                      << tasks::load_element(dtype, drawn.data() + element * size)
                      << " on the device, "
                      << tasks::load_element(dtype, expected.data() + element * size)
                      << " on the host";
      }
      EXPECT_EQ(text_of(device->verify_guards()), "no fault");
      device->release_buffers();
    }
  }
}

constexpr const char* kWriteAt =
    "__global__ void k(float* y, long long at, float value) { y[at] = value; }";

tasks::ResolvedArgument real(double value) {
  tasks::ResolvedArgument argument;
  argument.kind = tasks::ResolvedArgument::Kind::Float;
  argument.real = value;
  argument.size_bytes = 4;
  return argument;
}

TEST_F(CudaGpuTest, SeesWritesAroundBuffers) {
  const auto device = open(kWriteAt, {"k"});
  const std::vector<float> zeros(1000, 0);
  const auto after_write = [&](std::int64_t at) {
    device->release_buffers();
    put(*device, "x", zeros);
    put(*device, "y", zeros);
    EXPECT_EQ(text_of(device->run({step("k", 1, 1, {pointer("y"), integer(at, 8), real(1)})})),
              "no fault");
    return text_of(device->verify_guards());
  };
  EXPECT_EQ(after_write(999), "no fault");
  // The message names the nearest changed byte.
  EXPECT_EQ(after_write(-1), "out_of_bounds: buffer 'y' was written 1 bytes before its start");
  EXPECT_THAT(after_write(-100000),
              HasSubstr("out_of_bounds: buffer 'y' was written 399997 bytes before its start"));
  EXPECT_THAT(after_write(1000), HasSubstr("buffer 'y' was written at byte 4000 of 4000"));
  EXPECT_THAT(after_write(120000), HasSubstr("buffer 'y' was written at byte 480000"));
}

TEST_F(CudaGpuTest, SeesChangedInputs) {
  const auto device = open(kWriteAt, {"k"});
  const std::size_t x = device->allocate("x", 4000, true);
  device->generate(x, {Kind::Normal, 0, 1}, DType::F32, 5);
  EXPECT_EQ(text_of(device->verify_guards()), "no fault");
  const std::vector<tasks::Step> write{step("k", 1, 1, {pointer("x"), integer(321, 8), real(77)})};
  EXPECT_EQ(text_of(device->run(write)), "no fault");
  EXPECT_THAT(text_of(device->verify_guards()),
              StartsWith("modified_input: input 'x' was changed at byte 128"));
  device->release_buffers();
  put(*device, "x", std::vector<float>(1000, 1), true);
  EXPECT_EQ(text_of(device->verify_guards()), "no fault");
  EXPECT_EQ(text_of(device->run(write)), "no fault");
  EXPECT_EQ(text_of(device->verify_guards()), "modified_input: input 'x' was changed");
}

TEST_F(CudaGpuTest, TimesSeveralSetsOfBuffers) {
  const auto device = open("__global__ void k(int* y) { y[0] += 1; }", {"k"});
  const std::vector<tasks::Step> count{step("k", 1, 1, {pointer("y")})};
  std::vector<std::size_t> outputs;
  for (std::size_t set = 0; set < 3; ++set) {
    device->select_buffers(set, 0);
    outputs.push_back(put(*device, "y", std::vector<int>{static_cast<int>(100 * set)}));
  }
  for (const std::size_t set : {1U, 0U, 1U, 2U}) {
    device->select_buffers(set, 0);
    EXPECT_EQ(text_of(device->run_timed(count)), "no fault");
  }
  EXPECT_EQ(get<int>(*device, outputs[0], 1)[0], 1);
  EXPECT_EQ(get<int>(*device, outputs[1], 1)[0], 102);
  EXPECT_EQ(get<int>(*device, outputs[2], 1)[0], 201);
  EXPECT_EQ(text_of(device->verify_guards()), "no fault");
}

TEST_F(CudaGpuTest, ChecksumsAndRestores) {
  const auto device = open("__global__ void k() {}", {"k"});
  const std::size_t x = device->allocate("x", 123457, false);
  const std::size_t y = device->allocate("y", 123457, false);
  device->generate(x, {Kind::Uniform, 0, 200}, DType::U8, 5);
  const std::uint64_t drawn = device->checksum(x);
  device->fill_pattern(x, 0x0123456789abcdef);
  device->fill_pattern(y, 0x0123456789abcdef);
  EXPECT_NE(device->checksum(x), drawn);
  EXPECT_EQ(device->checksum(x), device->checksum(y));
  const auto bytes = get<std::uint8_t>(*device, x, 123457);
  EXPECT_EQ(bytes[0], 0xef);
  EXPECT_EQ(bytes[123456], 0xef);
  device->restore(x);
  EXPECT_EQ(device->checksum(x), drawn);
}

TEST_F(CudaGpuTest, FillsAndCopies) {
  const auto device = open("__global__ void k() {}", {"k"});
  for (const DType dtype : tasks::all_dtypes()) {
    const std::size_t size = tasks::size_bytes(dtype);
    const std::size_t y = device->allocate("y", 1000 * size, false);
    device->fill_pattern(y, 0);
    tasks::FillStep fill;
    fill.buffer = "y";
    fill.dtype = dtype;
    fill.value = 1;
    fill.offset_bytes = static_cast<std::int64_t>(3 * size);
    fill.count = 900;
    EXPECT_EQ(text_of(device->run({fill})), "no fault");
    EXPECT_EQ(text_of(device->run_timed({fill})), "no fault");
    const auto bytes = get<std::byte>(*device, y, 1000 * size);
    for (std::size_t i = 0; i < 1000; ++i) {
      ASSERT_EQ(tasks::load_element(dtype, bytes.data() + i * size), i >= 3 && i < 903 ? 1 : 0)
          << to_string(dtype) << " element " << i;
    }
    device->release_buffers();
  }
  std::vector<float> ramp(1000);
  std::iota(ramp.begin(), ramp.end(), 0.0F);
  put(*device, "a", ramp);
  const std::size_t b = put(*device, "b", std::vector<float>(1000, -1));
  tasks::CopyStep copy;
  copy.from = "a";
  copy.to = "b";
  copy.from_offset_bytes = 4;
  copy.row_bytes = 12;
  copy.rows = 50;
  copy.from_stride_bytes = 20;
  copy.to_stride_bytes = 16;
  EXPECT_EQ(text_of(device->run({copy})), "no fault");
  const auto copied = get<float>(*device, b, 1000);
  for (std::size_t row = 0; row < 50; ++row) {
    for (std::size_t i = 0; i < 4; ++i) {
      ASSERT_EQ(copied[row * 4 + i], i < 3 ? static_cast<float>(row * 5 + 1 + i) : -1)
          << row << " " << i;
    }
  }
}

TEST_F(CudaGpuTest, GivesMoreThan48KilobytesOfSharedMemory) {
  const auto device = open("extern __shared__ float s[];\n"
                           "__global__ void k(float* y, int n) {\n"
                           "  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = i;\n"
                           "  __syncthreads();\n"
                           "  for (int i = threadIdx.x; i < n; i += blockDim.x)\n"
                           "    y[i] = s[n - 1 - i];\n}",
                           {"k"});
  const auto count = static_cast<std::size_t>(probe_.facts.max_shared_bytes) / sizeof(float);
  const std::size_t y = put(*device, "y", std::vector<float>(count, 0));
  tasks::LaunchStep launch =
      step("k", 1, 256, {pointer("y"), integer(static_cast<std::int64_t>(count))});
  launch.shared_bytes = static_cast<std::int64_t>(count * sizeof(float));
  EXPECT_EQ(text_of(device->run({launch})), "no fault");
  const auto values = get<float>(*device, y, count);
  EXPECT_EQ(values[0], static_cast<float>(count - 1));
  EXPECT_EQ(values[count - 1], 0);
}

TEST_F(CudaGpuTest, LaunchesClusters) {
  if (probe_.facts.max_cluster_blocks == 0) {
    GTEST_SKIP() << "this device has no clusters";
  }
  const auto device = open("__global__ void k(int* y) {\n"
                           "  unsigned rank, size;\n"
                           "  asm(\"mov.u32 %0, %%cluster_ctarank;\" : \"=r\"(rank));\n"
                           "  asm(\"mov.u32 %0, %%cluster_nctarank;\" : \"=r\"(size));\n"
                           "  y[blockIdx.x] = rank * 100 + size;\n}",
                           {"k"});
  const std::size_t y = put(*device, "y", std::vector<int>(32, 0));
  tasks::LaunchStep launch = step("k", 32, 32, {pointer("y")});
  launch.cluster = {probe_.facts.max_cluster_blocks, 1, 1};
  for (const bool timed : {false, true}) {
    EXPECT_EQ(text_of(timed ? device->run_timed({launch}) : device->run({launch})), "no fault");
    const auto ranks = get<int>(*device, y, 32);
    for (int i = 0; i < 32; ++i) {
      const int size = static_cast<int>(launch.cluster[0]);
      EXPECT_EQ(ranks[static_cast<std::size_t>(i)], i % size * 100 + size) << timed;
    }
  }
}

TEST_F(CudaGpuTest, LaunchesCooperativeGrids) {
  const auto device = open("#include <cooperative_groups.h>\n"
                           "__global__ void k(int* y) {\n"
                           "  auto grid = cooperative_groups::this_grid();\n"
                           "  if (threadIdx.x == 0) atomicAdd(y, 1);\n"
                           "  grid.sync();\n"
                           "  if (threadIdx.x == 0) y[1 + blockIdx.x] = *(volatile int*)y;\n}",
                           {"k"});
  const auto blocks = probe_.facts.sm_count;
  const auto count = static_cast<std::size_t>(blocks) + 1;
  const std::size_t y = put(*device, "y", std::vector<int>(count, 0));
  tasks::LaunchStep launch = step("k", blocks, 64, {pointer("y")});
  launch.cooperative = true;
  EXPECT_EQ(text_of(device->run({launch})), "no fault");
  EXPECT_THAT(get<int>(*device, y, count), testing::Each(static_cast<int>(blocks)));
  EXPECT_EQ(text_of(device->run_timed({launch})), "no fault");

  launch.grid[0] = blocks * probe_.facts.max_blocks_per_sm + 1;
  EXPECT_THAT(text_of(device->run({launch})), StartsWith("launch_error: kernel 'k' (grid "));
  EXPECT_TRUE(device->usable());
}

TEST_F(CudaGpuTest, GoesOnAfterRefusedLaunches) {
  const auto device = open("__global__ void k(int* y) { y[0] += 1; }\n"
                           "__global__ void __launch_bounds__(64) small(int* y) { y[0] += 1; }",
                           {"k", "small"});
  const std::size_t y = put(*device, "y", std::vector<int>(1, 0));
  const tasks::LaunchStep good = step("k", 1, 1, {pointer("y")});
  std::vector<tasks::LaunchStep> refused(5, good);
  refused[0].block[0] = 2048;
  refused[1].shared_bytes = probe_.facts.max_shared_bytes + 1024;
  refused[2].cluster = {17, 1, 1};
  refused[2].grid[0] = 17;
  refused[3].grid[0] = std::int64_t{1} << 31;
  refused[4] = step("small", 1, 128, {pointer("y")});
  int runs = 0;
  for (const tasks::LaunchStep& launch : refused) {
    EXPECT_THAT(text_of(device->run({launch})), StartsWith("launch_error: kernel '")) << runs;
    EXPECT_THAT(text_of(device->run_timed({launch})), StartsWith("launch_error: kernel '"));
    ASSERT_TRUE(device->usable()) << runs;
    EXPECT_EQ(text_of(device->run({good})), "no fault");
    EXPECT_EQ(get<int>(*device, y, 1)[0], ++runs);
  }
}

TEST_F(CudaGpuTest, CopiesByATensorMap) {
  if (!probe_.facts.tensor_maps) {
    GTEST_SKIP() << "this device has no tensor maps";
  }
  const auto device = open(
      "#include <cuda.h>\n"
      "__global__ void k(const __grid_constant__ CUtensorMap map, float* y) {\n"
      "  __shared__ alignas(128) float box[8 * 16];\n"
      "  __shared__ alignas(8) unsigned long long barrier;\n"
      "  unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);\n"
      "  unsigned to = (unsigned)__cvta_generic_to_shared(box);\n"
      "  if (threadIdx.x == 0) {\n"
      "    asm volatile(\"mbarrier.init.shared::cta.b64 [%0], 1;\" ::\"r\"(at) : \"memory\");\n"
      "    asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: \"memory\");\n"
      "    asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;\" ::\"r\"(at)\n"
      "                 : \"memory\");\n"
      "    asm volatile(\"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::\"\n"
      "                 \"complete_tx::bytes [%0], [%1, {%2, %3}], [%4];\"\n"
      "                 ::\"r\"(to), \"l\"(&map), \"r\"(4), \"r\"(30), \"r\"(at) : \"memory\");\n"
      "  }\n"
      "  __syncthreads();\n"
      "  unsigned done = 0;\n"
      "  while (!done)\n"
      "    asm volatile(\"{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\"\n"
      "                 \" selp.u32 %0, 1, 0, p; }\" : \"=r\"(done) : \"r\"(at) : \"memory\");\n"
      "  y[threadIdx.x] = box[threadIdx.x];\n}",
      {"k"});
  // 32 rows; the box starts in row 30, so 14 of its 16 rows are outside
  constexpr std::size_t kColumns = 64;
  std::vector<float> ramp(kColumns * 32);
  std::iota(ramp.begin(), ramp.end(), 1.0F);
  put(*device, "x", ramp, true);
  const std::size_t y = put(*device, "y", std::vector<float>(128, -1));
  tasks::ResolvedTensorMap map;
  map.buffer = "x";
  map.extents = {kColumns, 32};
  map.strides_bytes = {kColumns * 4};
  map.box = {8, 16};
  map.element_strides = {1, 1};
  tasks::ResolvedArgument argument;
  argument.kind = tasks::ResolvedArgument::Kind::TensorMap;
  argument.size_bytes = 128;
  argument.tensor_map = std::make_shared<const tasks::ResolvedTensorMap>(map);
  EXPECT_EQ(text_of(device->run({step("k", 1, 128, {argument, pointer("y")})})), "no fault");
  const auto box = get<float>(*device, y, 128);
  for (std::size_t i = 0; i < 128; ++i) {
    const std::size_t row = 30 + i / 8;
    ASSERT_EQ(box[i], row < 32 ? ramp[row * kColumns + 4 + i % 8] : 0.0F) << i;
  }
  map.box = {512, 16};
  argument.tensor_map = std::make_shared<const tasks::ResolvedTensorMap>(map);
  const auto fault = device->run({step("k", 1, 128, {argument, pointer("y")})});
  EXPECT_THAT(text_of(fault), HasSubstr("launch_error: kernel 'k'"));
  EXPECT_THAT(text_of(fault), HasSubstr("the driver refuses the tensor map of 'x'"));
  EXPECT_TRUE(device->usable());
}

TEST_F(CudaGpuTest, HandsOverWhatKernelsPrint) {
  const auto device = open("#include <cstdio>\n"
                           "__global__ void k() { printf(\"thread %d\\n\", threadIdx.x); }",
                           {"k"});
  testing::internal::CaptureStdout();
  EXPECT_EQ(text_of(device->run({step("k", 1, 2, {})})), "no fault");
  device->verify_guards(); // waits for the stream; then the driver prints
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "thread 0\nthread 1\n");
}

TEST_F(CudaGpuTest, TimesWithinPhysics) {
  const auto device = open("__global__ void k(const float4* x, float4* y, int n) {\n"
                           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "  if (i < n) { float4 v = x[i]; v.x += 1; y[i] = v; }\n}",
                           {"k"});
  const auto time_of = [&](std::int64_t bytes) {
    device->release_buffers();
    device->allocate("x", static_cast<std::size_t>(bytes), true);
    device->allocate("y", static_cast<std::size_t>(bytes), false);
    const std::vector<tasks::Step> steps{step("k", (bytes / 16 + 255) / 256, 256,
                                              {pointer("x"), pointer("y"), integer(bytes / 16)})};
    std::vector<double> samples;
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(text_of(device->run_timed(steps)), "no fault");
      samples.push_back(static_cast<double>(device->elapsed().count()));
    }
    std::sort(samples.begin(), samples.end());
    return samples[samples.size() / 2] * 1e-9;
  };
  constexpr std::int64_t kLarge = std::int64_t{512} << 20U;
  const double peak = probe_.facts.peak_bytes_per_second;
  const double large = 2.0 * static_cast<double>(kLarge) / time_of(kLarge);
  EXPECT_GT(large, 0.6 * peak);
  EXPECT_LT(large, peak);
  // The data fits into the cache. Only an emptied cache keeps the rate below the memory's peak.
  const std::int64_t small_bytes = probe_.facts.l2_bytes / 4;
  const double small = time_of(small_bytes);
  EXPECT_GT(small, static_cast<double>(small_bytes) / peak);
  EXPECT_LT(small, 1e-3);
  std::printf("%s: %.2f TB/s of %.2f over %lld MiB; %.1f us for %lld MiB\n", probe_.name.c_str(),
              large * 1e-12, peak * 1e-12, static_cast<long long>(kLarge >> 20), small * 1e6,
              static_cast<long long>(small_bytes >> 20));
}

TEST_F(CudaGpuTest, ReplaysTheWholePlan) {
  const auto device = open("__global__ void k(int* y, int by) { y[0] += by; }", {"k"});
  const std::size_t y = put(*device, "y", std::vector<int>(1, 0));
  const std::vector<tasks::Step> steps{step("k", 1, 1, {pointer("y"), integer(1)}),
                                       step("k", 1, 1, {pointer("y"), integer(100)})};
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(text_of(device->run_timed(steps)), "no fault");
    EXPECT_GT(device->elapsed().count(), 0);
  }
  EXPECT_EQ(get<int>(*device, y, 1)[0], 20 * 101);
}

TEST_F(CudaGpuTest, RefusesModulesOfOtherDevices) {
  const auto device = open(kWriteAt, {"k"});
  const CompileResult other = build_for("sm_80", kWriteAt, {"k"});
  EXPECT_THROW(device->load_module(other.module), Error);
  GpuModuleFile relabelled = read_gpu_module(other.module);
  relabelled.architecture = probe_.facts.architecture;
  const TemporaryDirectory directory("relabelled");
  write_file_atomic(directory.path() / "module", encode(relabelled));
  if (probe_.facts.architecture.rfind("sm_8", 0) != 0) {
    EXPECT_THROW(device->load_module(directory.path() / "module"), Error);
  }
  EXPECT_TRUE(device->usable());
  device->load_module(build(kWriteAt, {"k"}).module);
  put(*device, "y", std::vector<float>(1, 0));
  EXPECT_EQ(text_of(device->run({step("k", 1, 1, {pointer("y"), integer(0, 8), real(1)})})),
            "no fault");
}

TEST_F(CudaGpuTest, OpensAgainInOneProcess) {
  for (int i = 0; i < 3; ++i) {
    const auto device =
        open("__device__ int state; __global__ void k(int* y) { *y = ++state; }", {"k"});
    const std::size_t y = put(*device, "y", std::vector<int>(1, 0));
    EXPECT_EQ(text_of(device->run({step("k", 1, 1, {pointer("y")})})), "no fault");
    EXPECT_EQ(get<int>(*device, y, 1)[0], 1); // a new module starts with fresh state
  }
}

TEST_F(CudaGpuTest, ReportsMemoryThatIsNotThere) {
  const auto device = open("__global__ void k(int* y) { *y = 1; }", {"k"});
  put(*device, "y", std::vector<int>(1, 0));
  try {
    device->allocate("vast", std::size_t{1} << 45U, false);
    ADD_FAILURE() << "32 TiB were allocated";
  } catch (const DeviceFailure& failure) {
    EXPECT_EQ(failure.fault().verdict, Verdict::OverLimit) << failure.what();
    EXPECT_THAT(failure.what(), HasSubstr("buffer 'vast' of 35184372088832 bytes"));
  }
  EXPECT_TRUE(device->usable());
  EXPECT_EQ(text_of(device->run({step("k", 1, 1, {pointer("y")})})), "no fault");
}

// tasks::resident_blocks_per_sm() serves plans without a device. Here it must agree with the
// driver.
TEST_F(CudaGpuTest, OccupancyIsAsCalculated) {
  const CompileResult built =
      build("__global__ void plain(float* y) { y[threadIdx.x] += 1; }\n"
            "template <int N> __global__ void statics(float* y) {\n"
            "  __shared__ float s[N]; s[threadIdx.x] = y[threadIdx.x]; __syncthreads();\n"
            "  y[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x]; }\n"
            "template <int N> __global__ void registers(float* y) {\n"
            "  float v[N];\n#pragma unroll\n"
            "  for (int i = 0; i < N; ++i) v[i] = y[i * 37 + threadIdx.x];\n"
            "  __syncthreads();\n#pragma unroll\n"
            "  for (int i = 0; i < N; ++i) y[i * 41 + threadIdx.x] = v[i] * v[(i * 7) % N]; }",
            {"plain", "statics<2000>", "statics<12000>", "registers<32>", "registers<100>",
             "registers<200>"});
  const auto driver = open_cuda_driver(0);
  const GpuModuleFile file = read_gpu_module(built.module);
  const GpuModule module = driver->load_module(file.image);
  for (const tasks::KernelSignature& signature : built.facts.signatures) {
    ASSERT_TRUE(signature.resources.has_value()) << signature.kernel;
    const GpuKernel kernel = driver->find_kernel(module, file.symbols.at(signature.kernel));
    const GpuKernelFacts facts = driver->kernel_facts(kernel);
    EXPECT_EQ(facts.registers, signature.resources->registers) << signature.kernel;
    EXPECT_EQ(facts.static_shared_bytes, signature.resources->static_shared_bytes);
    for (const int threads : {32, 64, 96, 256, 512, 1000, 1024}) {
      for (const std::int64_t shared : {0, 1000, 40000, 100000, 200000}) {
        if (shared + facts.static_shared_bytes > probe_.facts.max_shared_bytes) {
          continue;
        }
        EXPECT_EQ(
            tasks::resident_blocks_per_sm(probe_.facts, *signature.resources, threads, shared),
            driver->resident_blocks(kernel, threads, static_cast<std::size_t>(shared)))
            << signature.kernel << " with " << threads << " threads, " << shared
            << " bytes of dynamic shared memory, " << facts.registers << " registers";
      }
    }
  }
  driver->unload_module(module);
}

} // namespace
} // namespace winnow::evaluators
