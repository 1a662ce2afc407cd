#include "evaluators/device/cuda/cuda_driver.h"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using testing::HasSubstr;

/// The error message when `library` is used as the driver.
std::string refusal(const std::string& library) {
  setenv("WINNOW_CUDA_LIBRARY", library.c_str(), 1);
  try {
    open_cuda_driver(0);
  } catch (const DeviceUnavailable& error) {
    EXPECT_FALSE(error.remedy().empty()) << error.what();
    return error.what();
  }
  return "no refusal";
}

std::string refusal_of_double(const char* version, const char* init) {
  setenv("WINNOW_TEST_CUDA_VERSION", version, 1);
  setenv("WINNOW_TEST_CUDA_INIT", init, 1);
  return refusal(WINNOW_CUDA_DOUBLE);
}

TEST(CudaDriver, SaysThatThereIsNoLibrary) {
  EXPECT_THAT(refusal("/nowhere/libcuda.so.1"), HasSubstr("/nowhere/libcuda.so.1"));
}

TEST(CudaDriver, KnowsTheToolkitsStub) {
  const std::filesystem::path stub =
      std::filesystem::path(WINNOW_CUDA_INCLUDE) / "../lib64/stubs/libcuda.so";
  if (!std::filesystem::exists(stub)) {
    GTEST_SKIP() << "no stub library at " << stub;
  }
  EXPECT_THAT(refusal(stub.string()), HasSubstr("it is the toolkit's stub, not a driver"));
}

TEST(CudaDriver, RefusesAnOldDriver) {
  EXPECT_THAT(refusal_of_double("11080", "0"),
              HasSubstr("is a driver for CUDA 11.8, but Winnow needs CUDA 12.0 or later"));
}

TEST(CudaDriver, ExplainsWhyItDoesNotStart) {
  EXPECT_THAT(refusal_of_double("13000", "100"), HasSubstr("it sees no NVIDIA GPU"));
  EXPECT_THAT(refusal_of_double("13000", "803"), HasSubstr("have different releases"));
  EXPECT_THAT(refusal_of_double("13000", "804"), HasSubstr("forward-compatibility"));
  EXPECT_THAT(refusal_of_double("13000", "802"), HasSubstr("fabric manager"));
  EXPECT_THAT(refusal_of_double("13000", "304"), HasSubstr("cuInit fails with error 304"));
}

TEST(CudaDriver, NamesAFunctionThatIsMissing) {
  EXPECT_THAT(refusal_of_double("13000", "0"), HasSubstr("has no function cu"));
}

TEST(CudaDriver, ProbesNothingWithAReason) {
  setenv("WINNOW_CUDA_LIBRARY", "/nowhere/libcuda.so.1", 1);
  const std::vector<DeviceReport> found = probe_cuda_devices();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].id, "cuda");
  EXPECT_FALSE(found[0].availability.ok);
  EXPECT_THAT(found[0].availability.why, HasSubstr("/nowhere/libcuda.so.1"));
  EXPECT_FALSE(found[0].availability.remedy.empty());
}

// The numbers of CUresult in cuda.h. They are stable since they were introduced.
TEST(CudaErrors, KnowsWhatEndsAContext) {
  const auto sticky = [](int result, GpuFailure failure) {
    const ErrorClass what = cuda::classify(result);
    EXPECT_EQ(what.failure, failure) << result;
    EXPECT_TRUE(what.sticky) << result;
  };
  sticky(700, GpuFailure::IllegalAddress);
  sticky(716, GpuFailure::Misaligned);
  sticky(710, GpuFailure::Assertion);
  for (const int result : {714, 715, 717, 718, 719, 721}) {
    sticky(result, GpuFailure::Trap);
  }
  sticky(702, GpuFailure::LaunchTimeout);
  for (const int result : {3, 4, 46, 100, 201, 214, 220, 226, 304, 709, 802, 999}) {
    sticky(result, GpuFailure::DeviceLost);
  }
}

TEST(CudaErrors, KnowsWhatIsOnlyRefused) {
  const auto refused = [](int result, GpuFailure failure) {
    const ErrorClass what = cuda::classify(result);
    EXPECT_EQ(what.failure, failure) << result;
    EXPECT_FALSE(what.sticky) << result;
  };
  for (const int result : {1, 701, 801, 912}) {
    refused(result, GpuFailure::InvalidLaunch);
  }
  refused(720, GpuFailure::CooperativeSize);
  refused(2, GpuFailure::OutOfMemory);
  for (const int result : {200, 209, 218, 222, 223, 300, 500}) {
    refused(result, GpuFailure::BadModule);
  }
  refused(400, GpuFailure::Other);
}

} // namespace
} // namespace winnow::evaluators
