// Tests the helper kernels as compiled device code, on the CPU device.
#include "base/files.h"
#include "evaluators/device/compare_core.h"
#include "evaluators/device/cpu/compile/cpu_compiler.h"
#include "evaluators/device/cpu/cpu_device.h"
#include "evaluators/device/gpu/helper_kernels.h"
#include "tasks/inputs/input_generator.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <span>

#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using tasks::DType;
using tasks::GeneratorSpec;
using tasks::ResolvedArgument;
using Kind = GeneratorSpec::Kind;

constexpr std::uint64_t kUntouched = ~std::uint64_t{0};
constexpr std::uint64_t kCount = 1003;
constexpr std::uint64_t kSeed = 12345678901;

ResolvedArgument whole(std::uint64_t value, int bytes = 8) {
  ResolvedArgument argument;
  argument.integer = static_cast<std::int64_t>(value);
  argument.size_bytes = bytes;
  return argument;
}

ResolvedArgument number(int value) {
  return whole(static_cast<std::uint64_t>(value), 4);
}

ResolvedArgument real(double value) {
  ResolvedArgument argument;
  argument.kind = ResolvedArgument::Kind::Float;
  argument.real = value;
  argument.size_bytes = 8;
  return argument;
}

ResolvedArgument buffer(const std::string& name, std::int64_t offset = 0) {
  ResolvedArgument argument;
  argument.kind = ResolvedArgument::Kind::Pointer;
  argument.buffer = name;
  argument.offset_bytes = offset;
  argument.size_bytes = 8;
  return argument;
}

class HelperKernels : public testing::TestWithParam<const char*> {
protected:
  void SetUp() override {
    const Availability availability = probe_cpu_compiler(GetParam());
    if (!availability.ok) {
      GTEST_SKIP() << availability.why;
    }
    static const TemporaryDirectory cache("helper-kernels"); // all tests share one compilation
    CpuCompilerOptions options;
    options.cache = cache.path();
    options.compiler = GetParam();
    options.timeout = std::chrono::minutes(2); // g++ takes 5 s on an idle core
    CompileRequest request;
    request.file = "helpers.cu";
    request.source = gpu_helper_source();
    request.kernels = gpu_helper_kernels();
    const CompileResult built =
        make_cpu_compiler(process::Sandbox::best(), options)->compile(request);
    ASSERT_EQ(built.verdict, tasks::Verdict::Correct) << built.detail;
    device_ = make_cpu_device({});
    device_->load_module(built.module);
  }

  void TearDown() override { device_.reset(); }

  template <class T> std::size_t put(const std::string& name, const std::vector<T>& values) {
    const std::size_t handle = device_->allocate(name, values.size() * sizeof(T), false);
    device_->upload(handle, std::as_bytes(std::span(values)));
    return handle;
  }

  template <class T> std::vector<T> get(std::size_t handle, std::size_t count) {
    std::vector<T> values(count);
    device_->download(handle, std::as_writable_bytes(std::span(values)));
    return values;
  }

  void launch(const std::string& kernel, std::vector<ResolvedArgument> arguments) {
    tasks::LaunchStep step;
    step.kernel = kernel;
    step.grid = {3, 1, 1};
    step.block = {64, 1, 1};
    step.arguments = std::move(arguments);
    const auto fault = device_->run({step});
    ASSERT_FALSE(fault.has_value()) << fault->detail;
  }

  /// Runs a kernel that writes a 64-bit number to its last argument, and returns the number.
  /// `start`: the initial value.
  std::uint64_t result_of(const std::string& kernel, std::vector<ResolvedArgument> arguments,
                          std::uint64_t start) {
    const std::size_t result = put<std::uint64_t>("result", {start});
    arguments.push_back(buffer("result"));
    launch(kernel, std::move(arguments));
    return get<std::uint64_t>(result, 1)[0];
  }

  static std::vector<ResolvedArgument> draw(const GeneratorSpec& ranges, DType dtype) {
    const tasks::DrawnGenerator spec = tasks::drawn(ranges, kSeed, tasks::hash_name("x"));
    return {buffer("x"),
            whole(kCount),
            number(static_cast<int>(dtype)),
            number(static_cast<int>(tasks::size_bytes(dtype))),
            number(static_cast<int>(spec.kind)),
            real(spec.a),
            real(spec.b),
            real(spec.c),
            whole(spec.csr.rows),
            whole(spec.csr.columns),
            whole(spec.csr.pointers_hash),
            whole(kSeed),
            whole(tasks::hash_name("x"))};
  }

  std::unique_ptr<Device> device_;
};

const std::vector<GeneratorSpec>& specs() {
  static const std::vector<GeneratorSpec> all{{Kind::Normal, 0.1, 3.3},
                                              {Kind::Uniform, -0.7, 1.9},
                                              {Kind::HeavyTail, 100, 0.3},
                                              {Kind::SmallIntegers, -40, 90},
                                              {Kind::Index, 1000003, 0},
                                              {Kind::Constant, 0.1, 0},
                                              {Kind::LogUniform, -20, 20},
                                              {Kind::Sparse, 0.3, 2},
                                              {Kind::Ties, 5, 0.3},
                                              {Kind::Permutation, 77, 0},
                                              {Kind::OneHot, 9, 0},
                                              {Kind::Denormal, 0x1p-126, 0},
                                              {Kind::Special, 0.2, 1},
                                              {Kind::Normal, {-2, 2}, {0.5, 2}, {}, {0.1, 1000}},
                                              {Kind::HeavyTail, {10, 90}, {0.1, 2}, {}, {3, 300}},
                                              {Kind::Ties, {5, 50}, {0.1, 2}, {}, {-3, 3}},
                                              {Kind::Index, 1003, {0.1, 0.9}},
                                              {Kind::CsrRows, 5000, 0.7, {kCount - 1, 60, 7}},
                                              {Kind::CsrColumns, kCount, 0.7, {900, 60, 7}}};
  return all;
}

TEST_P(HelperKernels, DrawAsTheHostDoes) {
  for (const DType dtype : tasks::all_dtypes()) {
    const std::size_t bytes = kCount * tasks::size_bytes(dtype);
    for (const GeneratorSpec& spec : specs()) {
      const std::size_t x = device_->allocate("x", bytes, false);
      launch("winnow_generate", draw(spec, dtype));
      std::vector<std::byte> expected(bytes);
      tasks::generate_tensor(spec, dtype, kSeed, "x", expected.data(), kCount);
      EXPECT_EQ(get<std::byte>(x, bytes), expected)
          << to_string(dtype) << ", kind " << static_cast<int>(spec.kind);
      EXPECT_EQ(result_of("winnow_verify_generated", draw(spec, dtype), kUntouched), kUntouched);
      device_->release_buffers();
    }
  }
}

TEST_P(HelperKernels, FindTheFirstChangedByte) {
  const GeneratorSpec spec{Kind::Normal, 0, 1};
  for (const DType dtype : {DType::F8E4M3, DType::F16, DType::F32, DType::F64}) {
    const std::size_t bytes = kCount * tasks::size_bytes(dtype);
    for (const std::size_t at : {std::size_t{0}, bytes / 2 + 1, bytes - 1}) {
      std::vector<std::byte> drawn(bytes);
      tasks::generate_tensor(spec, dtype, kSeed, "x", drawn.data(), kCount);
      drawn[at] ^= std::byte{0x10};
      drawn[bytes - 1] ^= std::byte{0x01};
      put("x", drawn);
      EXPECT_EQ(result_of("winnow_verify_generated", draw(spec, dtype), kUntouched), at)
          << to_string(dtype);
      device_->release_buffers();
    }
  }
}

TEST_P(HelperKernels, FindTheNearestByteOfAGuardThatIsGone) {
  constexpr std::size_t kBytes = 4096;
  for (const std::size_t begin : {std::size_t{0}, std::size_t{3}, std::size_t{8}}) {
    for (const std::size_t end : {begin + 1, begin + 7, kBytes - 2, kBytes}) {
      constexpr std::uint64_t kSalt = 0x123456789abcdef0;
      const std::size_t guard = device_->allocate("zone", kBytes, false);
      launch("winnow_fill_guard", {buffer("zone"), whole(kBytes), whole(kSalt)});
      auto zone = get<std::uint8_t>(guard, kBytes);
      const auto check = [&](int backwards) {
        device_->upload(guard, std::as_bytes(std::span(zone)));
        return result_of("winnow_verify_guard",
                         {buffer("zone", static_cast<std::int64_t>(begin)), whole(end - begin),
                          whole(kSalt), number(backwards)},
                         kUntouched);
      };
      if (begin > 0) {
        zone[begin - 1] = 0; // outside of the range
      }
      if (end < kBytes) {
        zone[end] = 0;
      }
      EXPECT_EQ(check(0), kUntouched) << begin << " to " << end;
      const std::size_t first = begin + (end - begin) / 3;
      const std::size_t last = begin + (end - begin) / 2;
      zone[first] = 0;
      zone[last] = 1;
      EXPECT_EQ(check(0), first - begin) << begin << " to " << end;
      EXPECT_EQ(check(1), end - last) << begin << " to " << end;
      device_->release_buffers();
    }
  }
}

TEST_P(HelperKernels, FillGuardsFromAnyByteOn) {
  constexpr std::size_t kBytes = 64;
  const std::size_t whole_zone = put("x", std::vector<std::uint8_t>(kBytes));
  launch("winnow_fill_guard", {buffer("x"), whole(kBytes), whole(5)});
  const auto expected = get<std::uint8_t>(whole_zone, kBytes);
  const std::vector<std::uint8_t> other(kBytes, 0x55);
  for (const std::size_t begin : {std::size_t{0}, std::size_t{3}, std::size_t{8}}) {
    for (const std::size_t end : {begin + 1, begin + 7, begin + 21, kBytes}) {
      device_->upload(whole_zone, std::as_bytes(std::span(other)));
      launch("winnow_fill_guard",
             {buffer("x", static_cast<std::int64_t>(begin)), whole(end - begin), whole(5)});
      const auto filled = get<std::uint8_t>(whole_zone, kBytes);
      for (std::size_t i = 0; i < kBytes; ++i) {
        ASSERT_EQ(filled[i], i >= begin && i < end ? expected[i] : 0x55) << i << " " << begin;
      }
    }
  }
}

TEST_P(HelperKernels, FillEveryByte) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{8}, std::size_t{1003}}) {
    const std::size_t x = put("x", std::vector<std::uint8_t>(bytes + 8, 7));
    launch("winnow_fill", {buffer("x"), whole(bytes), whole(0x0807060504030201)});
    const auto filled = get<std::uint8_t>(x, bytes + 8);
    for (std::size_t i = 0; i < filled.size(); ++i) {
      ASSERT_EQ(filled[i], i < bytes ? i % 8 + 1 : 7) << i << " of " << bytes;
    }
    device_->release_buffers();
  }
}

TEST_P(HelperKernels, HashContentsAndPlaces) {
  const auto hash = [this](const std::vector<std::uint8_t>& bytes, std::uint64_t salt = 0) {
    put("x", bytes);
    const std::uint64_t sum =
        result_of("winnow_checksum", {buffer("x"), whole(bytes.size()), whole(salt)}, 0);
    device_->release_buffers();
    return sum;
  };
  std::vector<std::uint8_t> bytes(1003);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(i * 7);
  }
  const std::uint64_t first = hash(bytes);
  EXPECT_EQ(hash(bytes), first);
  EXPECT_NE(hash(bytes, 1), first);
  std::swap_ranges(bytes.begin(), bytes.begin() + 8, bytes.begin() + 8);
  EXPECT_NE(hash(bytes), first);
  std::swap_ranges(bytes.begin(), bytes.begin() + 8, bytes.begin() + 8);
  bytes[1002] ^= 1;
  EXPECT_NE(hash(bytes), first);
}

TEST_P(HelperKernels, ReadAll) {
  put("x", std::vector<std::uint64_t>(1000, 0));
  EXPECT_EQ(result_of("winnow_read_all", {buffer("x"), whole(8000)}, 5), 5U);
  std::vector<std::uint64_t> last(1000, 0);
  last.back() = 9; // shows that the kernel reads to the end
  put("x", last);
  EXPECT_EQ(result_of("winnow_read_all", {buffer("x"), whole(8000)}, 5), 9U);
}

TEST_P(HelperKernels, CompareAsTheHostDoes) {
  const ErrorLimits limits{0x1p-10, 0.5, 0.1, 0x1p-9, 1e-3, true};
  std::vector<double> expected(kCount), magnitude(kCount, 100);
  for (std::size_t i = 0; i < kCount; ++i) {
    expected[i] = std::sin(static_cast<double>(i)) * 100;
  }
  expected[7] = std::nan("");
  for (const DType dtype :
       {DType::F64, DType::F32, DType::F16, DType::BF16, DType::F8E4M3, DType::F8E5M2}) {
    const std::size_t size = tasks::size_bytes(dtype);
    std::vector<std::byte> got(kCount * size);
    ErrorTotals totals;
    for (std::size_t i = 0; i < kCount; ++i) {
      tasks::store_element(dtype, got.data() + i * size, expected[i] + (i % 10 == 0 ? 3 : 0.01));
      const double stored = tasks::load_element(dtype, got.data() + i * size);
      totals.add(error_of(stored, expected[i], magnitude[i], limits));
    }
    put("got", got);
    put("expected", expected);
    put("magnitude", magnitude);
    const std::size_t result = put<std::uint64_t>("totals", {0, 0, 0, 0});
    launch("winnow_compare",
           {buffer("got"), whole(kCount), number(static_cast<int>(dtype)),
            number(static_cast<int>(size)), buffer("expected"), buffer("magnitude"),
            real(limits.unit), real(limits.multiple), real(limits.rounding), real(limits.absolute),
            number(1), buffer("totals")});
    const auto found = get<ErrorTotals>(result, 1)[0];
    EXPECT_GT(totals.beyond, 100U);
    EXPECT_EQ(found.beyond, totals.beyond) << to_string(dtype);
    EXPECT_EQ(found.counted, totals.counted);
    EXPECT_DOUBLE_EQ(found.max_ratio, totals.max_ratio);
    EXPECT_NEAR(found.square_sum, totals.square_sum, 1e-9 * totals.square_sum);
    device_->release_buffers();
  }
}

TEST_P(HelperKernels, CountWordsThatDiffer) {
  const std::vector<std::uint8_t> expected(kCount, 3);
  for (const std::size_t at : {std::size_t{0}, std::size_t{kCount} - 1}) {
    std::vector<std::uint8_t> got = expected;
    const auto differences = [&] {
      put("got", got);
      put("expected", expected);
      const std::uint64_t found = result_of("winnow_count_differences",
                                            {buffer("got"), buffer("expected"), whole(kCount)}, 0);
      device_->release_buffers();
      return found;
    };
    EXPECT_EQ(differences(), 0U);
    got[at] = 4;
    EXPECT_EQ(differences(), 1U);
  }
}

// The CPU has no clock for the time-out, so a hold that is not released ends at once there.
TEST_P(HelperKernels, HoldUntilReleased) {
  const auto gave_up = [this](std::uint64_t released, std::uint64_t turn) {
    put<std::uint64_t>("released", {released});
    const std::uint64_t turned_up =
        result_of("winnow_hold", {buffer("released"), whole(turn), whole(100)}, 0);
    device_->release_buffers();
    return turned_up;
  };
  EXPECT_EQ(gave_up(3, 3), 0U);
  EXPECT_EQ(gave_up(9, 3), 0U) << "released long ago";
  EXPECT_EQ(gave_up(2, 3), 3U);
}

TEST_P(HelperKernels, ReadNoClockWhereThereIsNone) {
  const std::size_t stamp = put<std::uint64_t>("stamp", {7, 7});
  launch("winnow_stamp_clock", {buffer("stamp")});
  EXPECT_EQ(get<std::uint64_t>(stamp, 2), (std::vector<std::uint64_t>{0, 0}));
  EXPECT_EQ(result_of("winnow_clock_step", {}, 7), 0U);
}

INSTANTIATE_TEST_SUITE_P(Compilers, HelperKernels, testing::Values("g++", "clang++"),
                         [](const auto& test) {
                           return std::string(test.param) == "g++" ? "gxx" : "clangxx";
                         });

} // namespace
} // namespace winnow::evaluators
