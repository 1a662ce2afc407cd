// Tests library steps on a GPU device over the fake driver.
#include "base/files.h"
#include "evaluators/device/gpu/gpu_device.h"
#include "evaluators/device/gpu/gpu_library.h"
#include "evaluators/device/gpu/helper_kernels.h"
#include "evaluators/device/gpu/testing/gpu_driver_fake.h"
#include "evaluators/device/inspect/gpu_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using testing::HasSubstr;

/// Multiplies matrices on the host; row-major, b not transposed.
class HostLibrary final : public GpuLibrary {
public:
  explicit HostLibrary(int& queued) : queued_(queued) {}
  void queue(const tasks::LibraryStep& step, std::span<const GpuAddress> operands) override {
    ++queued_;
    const auto* left = reinterpret_cast<const float*>(operands[0]);
    const auto* right = reinterpret_cast<const float*>(operands[1]);
    auto* product = reinterpret_cast<float*>(operands[2]);
    for (std::int64_t i = 0; i < step.m; ++i) {
      for (std::int64_t j = 0; j < step.n; ++j) {
        float sum = 0;
        for (std::int64_t p = 0; p < step.k; ++p) {
          sum += left[i * step.k + p] * right[p * step.n + j];
        }
        product[i * step.n + j] = sum;
      }
    }
  }

private:
  int& queued_;
};

GpuModuleFile module_with(const std::vector<std::string>& kernels) {
  GpuModuleFile module;
  module.architecture = "fake_1";
  module.image = {std::byte{1}};
  for (const std::string& kernel : kernels) {
    module.symbols[kernel] = kernel;
  }
  return module;
}

tasks::LibraryStep product_of(std::int64_t m, std::int64_t n, std::int64_t k) {
  tasks::LibraryStep step;
  step.library = "hostlib";
  step.operation = "matmul";
  step.operands = {{"a", tasks::DType::F32, m * k},
                   {"b", tasks::DType::F32, k * n},
                   {"c", tasks::DType::F32, m * n}};
  step.m = m;
  step.n = n;
  step.k = k;
  return step;
}

class GpuLibraryTest : public testing::Test {
protected:
  Device& open(const GpuLibraryOpener& opener) {
    auto owned = std::make_unique<FakeGpuDriver>();
    driver = owned.get();
    GpuDeviceOptions options;
    options.helpers = write(module_with(gpu_helper_kernels()));
    options.open_library = opener;
    device = make_gpu_device(std::move(owned), std::move(options));
    device->load_module(write(module_with({})));
    put("a", {1, 2, 3, 4, 5, 6});
    put("b", {1, 0, 0, 1, 2, 2});
    put("c", {0, 0, 0, 0});
    return *device;
  }

  GpuLibraryOpener counting() {
    return [this](const std::string& name, GpuDriver& /*driver*/) {
      opened.push_back(name);
      return std::make_unique<HostLibrary>(queued);
    };
  }

  std::vector<float> c() {
    std::vector<float> values(4);
    device->download(2, std::as_writable_bytes(std::span(values)));
    return values;
  }

  FakeGpuDriver* driver = nullptr;
  std::unique_ptr<Device> device;
  std::vector<std::string> opened;
  int queued = 0;

private:
  std::string write(const GpuModuleFile& module) {
    const auto path = directory_.path() / std::to_string(++files_);
    write_file_atomic(path, encode(module));
    return path.string();
  }
  void put(const std::string& name, const std::vector<float>& values) {
    const std::size_t buffer = device->allocate(name, values.size() * sizeof(float), name != "c");
    device->upload(buffer, std::as_bytes(std::span(values)));
  }

  TemporaryDirectory directory_{"gpu-library-test"};
  int files_ = 0;
};

TEST_F(GpuLibraryTest, RunsOnTheStepsBuffers) {
  Device& gpu = open(counting());
  const std::vector<tasks::Step> steps{product_of(2, 2, 3)};
  EXPECT_FALSE(gpu.run(steps));
  EXPECT_THAT(c(), testing::ElementsAre(7, 8, 16, 17));
  EXPECT_FALSE(gpu.run(steps));
  EXPECT_THAT(opened, testing::ElementsAre("hostlib")) << "once a device";
  EXPECT_EQ(queued, 2);
  EXPECT_FALSE(gpu.verify_guards());
}

TEST_F(GpuLibraryTest, IsQueuedOnceBeforeItIsRecorded) {
  Device& gpu = open([this](const std::string& name, GpuDriver& /*driver*/) {
    EXPECT_EQ(driver->count("record"), 0U) << "libraries may not be opened in a recording";
    opened.push_back(name);
    return std::make_unique<HostLibrary>(queued);
  });
  const std::vector<tasks::Step> steps{product_of(2, 2, 3)};
  EXPECT_FALSE(gpu.run_timed(steps));
  EXPECT_EQ(queued, 2) << "before the recording and in it";
  EXPECT_EQ(driver->count("record"), 1U);
  EXPECT_FALSE(gpu.run_timed(steps));
  EXPECT_EQ(driver->count("record"), 1U);
  EXPECT_EQ(queued, 2);
}

TEST_F(GpuLibraryTest, ALibraryThatIsNotThereIsAFaultWithTheReason) {
  Device& gpu =
      open([](const std::string& name, GpuDriver& /*driver*/) -> std::unique_ptr<GpuLibrary> {
        throw GpuError("dlopen", name, "it is not installed", GpuFailure::InvalidLaunch, false);
      });
  const auto fault = gpu.run({product_of(2, 2, 3)});
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->verdict, tasks::Verdict::LaunchError);
  EXPECT_THAT(fault->detail, HasSubstr("hostlib matmul (2 x 2 x 3)"));
  EXPECT_THAT(fault->detail, HasSubstr("it is not installed"));
  EXPECT_TRUE(gpu.usable());
}

TEST_F(GpuLibraryTest, ADeviceWithoutLibrariesSaysSo) {
  const auto fault = open({}).run({product_of(2, 2, 3)});
  ASSERT_TRUE(fault);
  EXPECT_THAT(fault->detail, HasSubstr("no such library"));
}

TEST_F(GpuLibraryTest, AProductLargerThanItsBuffersIsRefused) {
  Device& gpu = open(counting());
  EXPECT_THROW(gpu.run({product_of(2, 3, 3)}), Error);
  EXPECT_EQ(queued, 0);
}

} // namespace
} // namespace winnow::evaluators
