// Makes every call of the HIP driver fail once, and checks that the double detects misuse.
#include "evaluators/device/hip/hip_functions.h"
#include "evaluators/device/hip/hip_test_support.h"

#include <set>
#include <sstream>

#include <gmock/gmock.h>

namespace winnow::evaluators {
namespace {

using testing::HasSubstr;

constexpr int kOutOfMemory = 2; // hipErrorOutOfMemory

using HipFailures = HipDriverTest;

struct Classified {
  hip::Result result;
  GpuFailure failure;
  bool sticky;
};

TEST_F(HipFailures, ErrorsAreClassified) {
  for (const Classified& known : {Classified{1, GpuFailure::InvalidLaunch, false},
                                  {2, GpuFailure::OutOfMemory, false},
                                  {4, GpuFailure::DeviceLost, true},
                                  {9, GpuFailure::InvalidLaunch, false},
                                  {98, GpuFailure::BadModule, false},
                                  {100, GpuFailure::DeviceLost, true},
                                  {209, GpuFailure::BadModule, false},
                                  {214, GpuFailure::DeviceLost, true},
                                  {400, GpuFailure::Other, false},
                                  {500, GpuFailure::BadModule, false},
                                  {700, GpuFailure::IllegalAddress, true},
                                  {701, GpuFailure::InvalidLaunch, false},
                                  {702, GpuFailure::LaunchTimeout, true},
                                  {710, GpuFailure::Assertion, true},
                                  {719, GpuFailure::Trap, true},
                                  {720, GpuFailure::CooperativeSize, false},
                                  {999, GpuFailure::DeviceLost, true}}) {
    const hip::ErrorClass found = hip::classify(known.result);
    EXPECT_EQ(found.failure, known.failure) << known.result;
    EXPECT_EQ(found.sticky, known.sticky) << known.result;
  }
}

// Uses every function of the interface once.
void whole_life() {
  std::vector<std::byte> host(4096);
  const auto driver = open_hip_driver(0);
  driver->pin(host);
  const DeviceFloats x(*driver, 4);
  const DeviceFloats y(*driver, 4);
  const GpuModule module = driver->load_module(image_of("axpy"));
  const Released unload([&] { driver->unload_module(module); });
  const GpuKernel kernel = driver->find_kernel(module, "axpy");
  driver->kernel_facts(kernel);
  driver->resident_blocks(kernel, 256, 0);
  driver->upload(x.address(), bytes_of({1, 2, 3, 4}));
  for (const int bytes : {1, 2, 4}) {
    driver->fill(y.address(), 0, bytes, 4);
  }
  Axpy axpy(x, y, y);
  GpuLaunch cooperative = axpy.launch(kernel);
  cooperative.cooperative = true;
  driver->launch(cooperative);
  const GpuGraph graph = driver->record([&] { driver->launch(axpy.launch(kernel)); });
  const Released release([&] { driver->release_graph(graph); });
  driver->mark(0);
  driver->launch(graph);
  driver->copy(x.address(), 8, y.address(), 8, 4, 2);
  driver->copy(x.address(), 8, y.address(), 8, 8, 1);
  driver->mark(1);
  driver->between_marks();
  driver->idle();
  static_cast<void>(y.read());
}

std::set<std::string> calls_of_a_whole_life() {
  whole_life();
  std::istringstream lines(hip_double_calls());
  return {std::istream_iterator<std::string>(lines), {}};
}

// Calls whose failure must be ignored: calls that release something, and optional calls.
bool may_fail_unnoticed(const std::string& call) {
  static const std::set<std::string> kCalls{
      "hipFree",         "hipModuleUnload",  "hipGraphExecDestroy", "hipGraphDestroy",
      "hipEventDestroy", "hipStreamDestroy", "hipHostRegister",     "hipHostUnregister",
      "hipGetLastError", "hipDeviceGetUuid"};
  return kCalls.count(call) != 0;
}

TEST_F(HipFailures, EveryCallThatFailsIsReportedAndNothingLeaks) {
  const std::set<std::string> calls = calls_of_a_whole_life();
  EXPECT_GE(calls.size(), 38U);
  for (const std::string& call : calls) {
    prepare_double();
    hip_double_fail(call.c_str(), 0, kOutOfMemory);
    std::string reported;
    try {
      whole_life();
    } catch (const GpuError& error) {
      reported = error.what();
      EXPECT_EQ(error.failure(), GpuFailure::OutOfMemory) << call;
      EXPECT_FALSE(error.sticky()) << call;
    } catch (const DeviceUnavailable& error) {
      reported = error.what();
    }
    if (!may_fail_unnoticed(call)) {
      EXPECT_THAT(reported, HasSubstr("hipErrorOutOfMemory")) << call;
    }
    EXPECT_STREQ(hip_double_problems(), "") << call;
    EXPECT_STREQ(hip_double_leaks(), "") << call;
  }
}

// Checks that the double detects misuse. Otherwise the tests above would prove nothing.
TEST(HipDouble, SeesMisuse) {
  hip_double_reset();
  const std::size_t sizes[] = {8, 8, 8, 4, 4};
  hip_double_register("axpy", &run_axpy, nullptr, sizes, std::size(sizes));
  const auto driver = open_hip_driver(0);
  const GpuAddress kept = driver->allocate(64);
  const GpuAddress freed = driver->allocate(64);
  driver->release(freed);
  EXPECT_THROW(driver->release(freed), GpuError);
  EXPECT_THROW(driver->fill(freed, 0, 1, 1), GpuError);
  EXPECT_THROW(driver->fill(kept, 0, 4, 17), GpuError);
  const GpuModule module = driver->load_module(image_of("axpy"));
  GpuLaunch launch;
  launch.kernel = driver->find_kernel(module, "axpy");
  launch.arguments = {&launch};
  EXPECT_THROW(driver->launch(launch), GpuError);
  launch.arguments.assign(6, &launch);
  EXPECT_THROW(driver->launch(launch), GpuError);
  driver->unload_module(module);
  EXPECT_THROW(driver->launch(launch), GpuError);
  driver->fill(kept, 0, 1, 64);
  driver->release(kept);
  EXPECT_THROW(driver->idle(), GpuError) << "queued work uses released memory";
  const std::string problems = hip_double_problems();
  for (const char* expected : {"released twice", "in released memory", "outside of any allocation",
                               "wrong number of arguments for axpy", "no such kernel"}) {
    EXPECT_THAT(problems, HasSubstr(expected));
  }
}

TEST(HipDouble, SeesLeaks) {
  hip_double_reset();
  const auto driver = open_hip_driver(0);
  driver->allocate(100);
  driver->load_module(image_of("axpy"));
  EXPECT_THAT(hip_double_leaks(), HasSubstr("an allocation of 100 bytes"));
  EXPECT_THAT(hip_double_leaks(), HasSubstr("1 modules"));
}

} // namespace
} // namespace winnow::evaluators
