// Accesses to memory that is not the kernel's: in check mode none of them happens. Without the
// checker there is nothing near a buffer that they could hit.
#include "evaluators/device/cpu/runtime/guarded_buffers.h"
#include "evaluators/device/cpu/runtime/testing/test_modules.h"

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using testing::AllOf;
using testing::ExitedWithCode;
using testing::HasSubstr;

/// Memory of the process that device code must not reach.
std::uint64_t g_foreign[512];

std::string foreign_address() {
  return fmt::format("{}ull", reinterpret_cast<std::uintptr_t>(&g_foreign[256]));
}

class FarAccessTest : public CpuDeviceTest {
protected:
  /// What run() and the checker say of kernel k(float* y), with the statement `access` in one
  /// thread.
  static DeviceFault checked(const std::string& access, const std::string& before = "") {
    auto device = make();
    device->load_module(build_module(before + "\n__global__ void k(float* y) {\n" +
                                         "  if (threadIdx.x == 3) { " + access + " }\n}",
                                     {"k"}, {true, ""}));
    device->allocate("x", 4096, true);
    upload(*device, device->allocate("y", 4096, false), std::vector<float>(1024, 1));
    auto steps = on_y(1, 32);
    std::get<tasks::LaunchStep>(steps[0]).shared_bytes = 64;
    const auto fault = device->run(steps);
    for (const CheckFinding& finding : device->findings()) {
      EXPECT_TRUE(fault.has_value()) << finding.detail;
    }
    return fault.value_or(DeviceFault{tasks::Verdict::Correct, ""});
  }
};

testing::Matcher<DeviceFault> out_of_bounds(const testing::Matcher<std::string>& text) {
  return AllOf(testing::Field(&DeviceFault::verdict, tasks::Verdict::OutOfBounds),
               testing::Field(&DeviceFault::detail, AllOf(HasSubstr("thread (3,0,0)"), text)));
}

TEST_F(FarAccessTest, NoDistanceFromABufferIsAllowed) {
  for (const char* distance :
       {"400000ll", "-400000ll", "100000000ll", "1073741824ll", "-1073741824ll", "5000000000ll"}) {
    EXPECT_THAT(checked(fmt::format("y[{}] = 1;", distance)),
                out_of_bounds(AllOf(HasSubstr("writes outside of buffer 'y'"))))
        << distance;
    EXPECT_THAT(checked(fmt::format("y[0] = y[{}];", distance)),
                out_of_bounds(HasSubstr("reads outside of buffer 'y'")))
        << distance;
  }
  for (const char* distance : {"200000000000ll", "-200000000000ll", "100000000000000ll"}) {
    EXPECT_THAT(checked(fmt::format("y[{}] = 1;", distance)), out_of_bounds(HasSubstr("writes")))
        << distance;
  }
}

TEST_F(FarAccessTest, ForeignMemoryIsNeitherReadNorWritten) {
  g_foreign[256] = 7;
  const std::string p = "(" + foreign_address() + ")";
  const std::string before = "struct V { virtual void f() { v = 1; } float v; };\n"
                             "struct W { float v[40]; };\n"
                             "extern \"C\" void sincosf(float, float*, float*);\n"
                             "extern \"C\" double modf(double, double*);\n"
                             "extern \"C\" int memcmp(const void*, const void*, unsigned long);\n";
  for (const std::string& access :
       {"*(volatile char*)" + p + " = 1;", "*(double*)" + p + " = 1;", "y[0] = *(float*)" + p + ";",
        "atomicAdd((int*)" + p + ", 1);", "y[0] = atomicCAS((unsigned*)" + p + ", 7u, 8u);",
        "__atomic_store_n((int*)" + p + ", 1, 0);", "__builtin_memcpy((void*)" + p + ", y, 64);",
        "__builtin_memcpy(y, (void*)" + p + ", 4000);", "__builtin_memset((void*)" + p + ", 0, 8);",
        "__builtin_memmove((void*)" + p + ", y, 777);", "*(W*)" + p + " = *(W*)y;",
        "sincosf(y[0], (float*)" + p + ", y);", "modf(y[0], (double*)" + p + ");",
        "y[0] = memcmp((void*)" + p + ", y, 512);"}) {
    EXPECT_THAT(checked(access, before), out_of_bounds(HasSubstr("which is in no buffer")))
        << access;
    EXPECT_EQ(g_foreign[256], 7U) << access;
  }
}

TEST_F(FarAccessTest, MemoryOfTheRuntimeIsForeign) {
  EXPECT_THAT(checked("y[0] = *(char*)&winnow_barrier;"), out_of_bounds(HasSubstr("reads")));
  EXPECT_THAT(checked("y[0] = *(char*)&f;", "__device__ __attribute__((noinline)) float f() { "
                                            "return 1; }"),
              out_of_bounds(HasSubstr("reads")));
  EXPECT_THAT(checked("float v[4] = {y[0]}; float* volatile p = v; y[0] = p[1 << 16];"),
              out_of_bounds(HasSubstr("reads")));
  EXPECT_THAT(checked("float v[4] = {y[0]}; float* volatile p = v; y[0] = p[-600];"),
              out_of_bounds(HasSubstr("reads")));
  EXPECT_THAT(checked("__shared__ float s[4]; float* volatile p = s; p[1 << 20] = 1;"),
              out_of_bounds(HasSubstr("writes")));
  EXPECT_THAT(
      checked("__shared__ float s[4]; float* volatile p = s; __builtin_memset(p, 0, 1 << 16);"),
      out_of_bounds(HasSubstr("outside of shared array 's': byte 16 of 16")));
  EXPECT_THAT(checked("float* s = (float*)winnow_dynamic_shared(); s[1 << 30] = 1;"),
              out_of_bounds(HasSubstr("outside of dynamic shared memory")));
  EXPECT_THAT(checked("v[5000] = 1;", "__device__ float v[4];"),
              out_of_bounds(HasSubstr("outside of variable 'v': byte 20000 of 16")));
  EXPECT_THAT(checked("*(float* volatile*)0 = y;"), out_of_bounds(HasSubstr("null pointer")));
}

TEST_F(FarAccessTest, TheStackOfAnotherThreadIsForeign) {
  auto device = make();
  device->load_module(build_module("__device__ float* volatile where;\n"
                                   "__global__ void k(float* y) {\n"
                                   "  float mine[8] = {y[threadIdx.x]};\n"
                                   "  if (threadIdx.x == 0) where = mine;\n"
                                   "  __syncthreads();\n"
                                   "  if (threadIdx.x == 3) y[0] = where[0];\n"
                                   "  __syncthreads(); y[1] = mine[threadIdx.x % 8];\n}",
                                   {"k"}, {true, ""}));
  device->allocate("y", 4096, false);
  const auto fault = device->run(on_y(1, 32));
  ASSERT_TRUE(fault.has_value());
  EXPECT_THAT(*fault, out_of_bounds(HasSubstr("reads")));
}

TEST_F(FarAccessTest, AThreadMayTouchWhatIsItsOwn) {
  for (const char* compiler : {"clang++", "g++"}) {
    if (std::system((std::string(compiler) + " --version >/dev/null 2>&1").c_str()) != 0) {
      continue;
    }
    auto device = make();
    device->load_module(build_module(
        "struct Large { float v[40]; };\n"
        "struct Shape { virtual float area() const { return side; } float side; };\n"
        "struct Square : Shape { float area() const override { return side * side; } };\n"
        "__device__ float table[] = {1, 2, 3, 4};\n__device__ int count;\n"
        "__device__ const float fixed[] = {5, 6, 7, 8};\n"
        "__device__ const char* const names[] = {\"one\", \"two\", \"three\", \"four\"};\n"
        "__device__ __attribute__((noinline)) float sum(Large a) {\n"
        "  float s = 0; for (float v : a.v) s += v; return s;\n}\n"
        "__device__ __attribute__((noinline)) float last(const float* p, int i) { return p[i]; }\n"
        "__global__ void k(float* y) {\n"
        "  static const float local[] = {9, 10, 11, 12};\n"
        "  Large copy = *(const Large*)y; float mine[64]; int t = threadIdx.x;\n"
        "  for (int i = 0; i < 64; ++i) mine[i] = y[t + i];\n"
        "  copy.v[t % 40] = table[t % 4] + fixed[t % 4] + names[t % 4][0] + local[t % 4];\n"
        "  Square square; square.side = mine[t]; Shape* volatile shape = &square;\n"
        "  float v = sum(copy) + last(mine, t) + shape->area() + __shfl_xor_sync(~0u, mine[1], "
        "1);\n"
        "  v += __ballot_sync(~0u, v > 0); __syncthreads();\n"
        "  count = 1; y[512 + blockIdx.x * 64 + t] = v + mine[t % 64];\n}",
        {"k"}, {true, compiler}));
    upload(*device, device->allocate("y", 4096, false), std::vector<float>(1024, 1));
    const auto fault = device->run(on_y(3, 64));
    EXPECT_FALSE(fault.has_value()) << compiler << ": " << fault->detail;
    EXPECT_THAT(device->findings(), testing::IsEmpty());
  }
}

/// Whether any page of the range is mapped.
bool is_mapped(std::uintptr_t begin, std::uintptr_t end) {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    const std::size_t dash = line.find('-');
    const std::uintptr_t first = std::stoull(line.substr(0, dash), nullptr, 16);
    const std::uintptr_t last = std::stoull(line.substr(dash + 1), nullptr, 16);
    if (first < end && last > begin) {
      return true;
    }
  }
  return false;
}

TEST(AddressPlaces, NothingIsMappedWithin64GiBOfABuffer) {
  constexpr std::uintptr_t kFar = std::uintptr_t{64} << 30U;
  std::vector<cpu::GuardedBuffer> buffers;
  for (std::size_t i = 0; i < 200; ++i) {
    buffers.push_back(cpu::map_guarded("b", 1000 + i * 100'000, false));
  }
  for (const cpu::GuardedBuffer& buffer : buffers) {
    const auto begin = reinterpret_cast<std::uintptr_t>(buffer.zone);
    const auto end = begin + buffer.zone_bytes;
    EXPECT_FALSE(is_mapped(begin - kFar, begin)) << buffer.zone;
    EXPECT_FALSE(is_mapped(end, end + kFar)) << buffer.zone;
  }
  for (const cpu::GuardedBuffer& buffer : buffers) {
    cpu::unmap_guarded(buffer);
  }
}

TEST(AddressPlaces, DistancesBetweenBuffersAreRandom) {
  std::set<std::ptrdiff_t> distances;
  for (int i = 0; i < 50; ++i) {
    const auto a = cpu::map_guarded("a", 4096, false);
    const auto b = cpu::map_guarded("b", 4096, false);
    distances.insert(a.data - b.data);
    cpu::unmap_guarded(a);
    cpu::unmap_guarded(b);
  }
  EXPECT_GE(distances.size(), 49U);
}

TEST(AddressPlaces, BuffersStillComeWhenNoPlaceIsFree) {
  std::vector<cpu::GuardedBuffer> buffers;
  for (int i = 0; i < 600; ++i) {
    buffers.push_back(cpu::map_guarded("b", 4096, false));
    buffers.back().data[0] = std::byte{1};
  }
  for (const cpu::GuardedBuffer& buffer : buffers) {
    cpu::unmap_guarded(buffer);
  }
  EXPECT_NE(cpu::take_place(std::size_t{32} << 30U), nullptr);
  EXPECT_EQ(cpu::take_place((std::size_t{32} << 30U) + 1), nullptr);
}

class PlainFarAccess : public CpuDeviceTest, public testing::WithParamInterface<const char*> {};

TEST_P(PlainFarAccess, FaultsWithoutTheChecker) {
  const std::string access = GetParam();
  const auto death = [&] {
    auto device = load("__global__ void k(float* y) { if (threadIdx.x == 3) " + access + "; }", 16);
    (void)device->run(on_y(1, 32));
  };
  EXPECT_EXIT(death(), ExitedWithCode(kFaultExitCode),
              "out_of_bounds: .*thread \\(3,0,0\\).* outside of buffer 'y'");
}

class BeyondAllPages : public CpuDeviceTest, public testing::WithParamInterface<const char*> {};

TEST_P(BeyondAllPages, IsNotTakenForAMisalignedAccess) {
  const std::string access = GetParam();
  const auto death = [&] {
    auto device = load("typedef float V __attribute__((vector_size(32)));\n"
                       "__global__ void k(float* y) {\n"
                       "  const long long i = threadIdx.x; " +
                           access + ";\n}",
                       16);
    (void)device->run(on_y(1, 4));
  };
  EXPECT_EXIT(death(), ExitedWithCode(kFaultExitCode),
              "out_of_bounds: .*accesses address 0x[0-9a-f]+, which is in no buffer");
}

INSTANTIATE_TEST_SUITE_P(Accesses, BeyondAllPages,
                         testing::Values("y[i + 100000000000000ll] = 1",
                                         "y[i - 100000000000000ll] = 1",
                                         "y[0] = y[i + 100000000000000ll]",
                                         "y[i * 100000000000001ll + 100000000000000ll] = 1",
                                         "*(V*)(y + 8 * i + 100000000000000ll) = V{}",
                                         "y[0] = ((double*)y)[i + 50000000000000ll]",
                                         "((char*)y)[i + 400000000000000ll] = 1",
                                         "atomicAdd(y + 100000000000000ll, 1.0f)"));

INSTANTIATE_TEST_SUITE_P(Distances, PlainFarAccess,
                         testing::Values("y[10000000ll] = 1", "y[-10000000ll] = 1",
                                         "y[100000000ll] = 1", "y[1073741824ll] = 1",
                                         "y[-2147483648ll] = 1", "y[5000000000ll] = 1",
                                         "y[0] = y[1073741824ll]", "y[0] = y[-1000000000ll]",
                                         "atomicAdd(y + 1000000000ll, 1.0f)",
                                         "__builtin_memcpy(y + 500000000ll, y, 32)"));

} // namespace
} // namespace winnow::evaluators
