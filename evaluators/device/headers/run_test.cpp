// Tests groups of threads and wmma on the CPU device. The samples are built and run like
// candidates.
#include "base/files.h"
#include "evaluators/device/compile/testing/fresh_cache.h"
#include "evaluators/device/cpu/compile/cpu_compiler.h"
#include "evaluators/device/cpu/cpu_device.h"

#include <bit>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

class RunHeaders : public testing::TestWithParam<const char*> {
protected:
  void SetUp() override {
    const Availability availability = probe_cpu_compiler(GetParam());
    if (!availability.ok) {
      GTEST_SKIP() << GetParam() << ": " << availability.why;
    }
  }

  void load(const std::string& sample, const std::vector<std::string>& kernels) {
    CpuCompilerOptions options;
    options.cache = cache_.path();
    options.compiler = GetParam();
    CompileRequest request;
    request.file = sample;
    request.source =
        read_file(std::filesystem::path(WINNOW_SAMPLES) / sample, std::uint64_t{1} << 20);
    request.kernels = kernels;
    const auto result = make_cpu_compiler(process::Sandbox::best(), options)->compile(request);
    ASSERT_EQ(result.verdict, tasks::Verdict::Correct) << result.detail;
    device_ = make_cpu_device({});
    device_->load_module(result.module);
  }
  template <class T> void buffer(const std::string& name, const std::vector<T>& values) {
    buffers_[name] = device_->allocate(name, values.size() * sizeof(T), false);
    device_->upload(buffers_[name], std::as_bytes(std::span(values)));
  }
  template <class T> std::vector<T> values(const std::string& name, std::size_t count) {
    std::vector<T> values(count);
    device_->download(buffers_[name], std::as_writable_bytes(std::span(values)));
    return values;
  }
  /// Runs the kernel with the buffers as its arguments.
  void launch(const std::string& kernel, std::int64_t blocks, std::int64_t threads,
              const std::vector<std::string>& arguments, bool cooperative = false) {
    tasks::LaunchStep step;
    step.kernel = kernel;
    step.grid = {blocks, 1, 1};
    step.block = {threads, 1, 1};
    step.cooperative = cooperative;
    for (const auto& name : arguments) {
      tasks::ResolvedArgument argument;
      argument.kind = tasks::ResolvedArgument::Kind::Pointer;
      argument.buffer = name;
      argument.size_bytes = 8;
      step.arguments.push_back(argument);
    }
    const auto fault = device_->run({step});
    ASSERT_FALSE(fault) << fault->detail;
  }

  FreshCache cache_;
  std::unique_ptr<Device> device_;
  std::map<std::string, std::size_t> buffers_;
};

TEST_P(RunHeaders, TilesReduceShuffleAndScan) {
  load("warps.cu", {"tiles"});
  buffer("y", std::vector<int>(64 * 8));
  launch("tiles", 1, 64, {"y"});
  const auto y = values<int>("y", 64 * 8);
  for (int me = 0; me < 64; ++me) {
    const int first = me / 8 * 8;
    const int rank = me % 8;
    int ballot = 0;
    int largest = 0;
    for (int i = 0; i < 8; ++i) {
      ballot |= ((first + i) % 3 == 0 ? 1 : 0) << i;
    }
    for (int lane = 0; lane < 32; ++lane) {
      largest = std::max(largest, (me / 32 * 32 + lane) ^ 5);
    }
    const std::vector<int> expected{8 * first + 28, largest,
                                    first + 3,      rank < 6 ? me + 2 : me,
                                    ballot,         (rank + 1) * first + rank * (rank + 1) / 2,
                                    me % 32,        me % 32 / 8 * 100 + rank};
    const std::vector<int> seen(y.begin() + 8 * me, y.begin() + 8 * me + 8);
    EXPECT_EQ(seen, expected) << "thread " << me;
  }
}

TEST_P(RunHeaders, CoalescedThreadsAreThoseThatAreThere) {
  load("warps.cu", {"coalesced"});
  buffer("y", std::vector<int>(32));
  launch("coalesced", 1, 32, {"y"});
  const auto y = values<int>("y", 32);
  for (int me = 0; me < 32; ++me) {
    // Eleven lanes: 1, 4, ..., 31.
    const int expected = me % 3 == 1 ? 11'000'000 + 110'000 + me / 3 * 100 + 1 : -1;
    EXPECT_EQ(y[static_cast<std::size_t>(me)], expected) << "thread " << me;
  }
}

TEST_P(RunHeaders, TheWholeGridMeets) {
  load("warps.cu", {"whole_grid"});
  buffer("partial", std::vector<int>(4));
  buffer("y", std::vector<int>(4 * 32));
  launch("whole_grid", 4, 32, {"partial", "y"}, true);
  EXPECT_EQ(values<int>("y", 4 * 32), std::vector<int>(4 * 32, 10));
}

TEST_P(RunHeaders, SmallTypesGoThroughAtomicsAndShuffles) {
  load("warps.cu", {"small_types"});
  buffer("y", std::vector<float>(8));
  launch("small_types", 1, 64, {"y"});
  EXPECT_EQ(values<float>("y", 8), (std::vector<float>{64, 96, 128, 32, -64, 64, 32, 48}));
}

TEST_P(RunHeaders, AsynchronousCopiesArrive) {
  load("warps.cu", {"copies"});
  std::vector<float> x(64);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i);
  }
  buffer("x", x);
  buffer("y", std::vector<float>(64));
  launch("copies", 1, 64, {"x", "y"});
  const auto y = values<float>("y", 64);
  for (std::size_t i = 0; i < 64; ++i) {
    // The odd ones were set to zero.
    const float neighbour = i % 2 == 1 ? static_cast<float>(i - 1) : 0.0F;
    EXPECT_EQ(y[i], static_cast<float>(63 - i) + 1000.0F * neighbour) << i;
  }
}

/// Small integers are exact in every type, so the product must be exact, too.
struct Tile {
  const char* kernel;
  int m, n, k;
  bool a_by_row, b_by_row;
};
template <class T> T encode(int value) { return static_cast<T>(value); }
struct Half {
  std::uint16_t bits;
};
struct Bfloat16 {
  std::uint16_t bits;
};
template <> Bfloat16 encode<Bfloat16>(int value) {
  return {
      static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16)};
}
template <> Half encode<Half>(int value) {
  if (value == 0) {
    return {0};
  }
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const std::uint32_t exponent = ((bits >> 23) & 255U) - 112U;
  return {static_cast<std::uint16_t>(((bits >> 16) & 0x8000U) | (exponent << 10) |
                                     ((bits >> 13) & 0x3ffU))};
}

class RunWmma : public RunHeaders {
protected:
  static int left(int row, int k) { return (row * 3 + k * 5) % 7 - 3; }
  static int right(int k, int column) { return (k * 2 + column * 3) % 5 - 2; }
  static int start(int row, int column) { return row - column; }

  template <class T, class D> void expect_product(const Tile& t) {
    std::vector<T> a;
    std::vector<T> b;
    std::vector<D> c;
    std::vector<D> expected;
    for (int i = 0; i < t.m * t.k; ++i) {
      a.push_back(encode<T>(t.a_by_row ? left(i / t.k, i % t.k) : left(i % t.m, i / t.m)));
    }
    for (int i = 0; i < t.k * t.n; ++i) {
      b.push_back(encode<T>(t.b_by_row ? right(i / t.n, i % t.n) : right(i % t.k, i / t.k)));
    }
    for (int i = 0; i < t.m * t.n; ++i) {
      c.push_back(encode<D>(start(i / t.n, i % t.n)));
      const int row = i % t.m; // D is stored by column
      const int column = i / t.m;
      int sum = start(row, column);
      for (int k = 0; k < t.k; ++k) {
        sum += left(row, k) * right(k, column);
      }
      expected.push_back(encode<D>(sum));
    }
    buffer("a", a);
    buffer("b", b);
    buffer("c", c);
    buffer("d", std::vector<D>(expected.size()));
    launch(t.kernel, 1, 32, {"a", "b", "c", "d"});
    const auto seen = values<D>("d", expected.size());
    EXPECT_EQ(std::memcmp(seen.data(), expected.data(), seen.size() * sizeof(D)), 0) << t.kernel;
    device_->release_buffers();
  }
};

TEST_P(RunWmma, EveryTypeAndShapeMultiplies) {
  load("wmma.cu",
       {"half_float", "half_half", "bfloat16_float", "tf32_float", "bytes_int", "double_double"});
  expect_product<Half, float>({"half_float", 16, 16, 16, true, false});
  expect_product<Half, Half>({"half_half", 32, 8, 16, false, true});
  expect_product<Bfloat16, float>({"bfloat16_float", 8, 32, 16, true, true});
  expect_product<float, float>({"tf32_float", 16, 16, 8, false, false});
  expect_product<signed char, int>({"bytes_int", 16, 16, 16, true, true});
  expect_product<double, double>({"double_double", 8, 8, 4, true, false});
}

std::string name_of(const testing::TestParamInfo<const char*>& test) {
  return test.param == std::string("g++") ? "Gcc" : "Clang";
}
INSTANTIATE_TEST_SUITE_P(Compilers, RunHeaders, testing::Values("clang++", "g++"), name_of);
INSTANTIATE_TEST_SUITE_P(Compilers, RunWmma, testing::Values("clang++", "g++"), name_of);

} // namespace
} // namespace winnow::evaluators
