#include "evaluators/device/cuda/cuda_gpu_test.h"

#include "evaluators/device/cuda/cuda_driver.h"
#include "evaluators/device/gpu/compile/gpu_compiler.h"
#include "evaluators/device/gpu/helper_kernels.h"
#include "profiling/counters/cupti_provider.h"

#include <cstdio>

namespace winnow::evaluators {
namespace {

const std::filesystem::path& cache() {
  static const TemporaryDirectory directory("cuda-gpu-test");
  return directory.path();
}

} // namespace

void CudaGpuTest::SetUp() {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // the driver has threads
  probe_ = probe_cuda_devices().front();
  if (!probe_.availability.ok) {
    GTEST_SKIP() << "no CUDA device: " << probe_.availability.why;
  }
  try {
    GpuCompilerOptions options;
    options.vendor = &kCudaVendor;
    options.architecture = probe_.facts.architecture;
    options.cache = cache();
    make_gpu_compiler(process::Sandbox::best(), options);
  } catch (const Error& error) {
    GTEST_SKIP() << "no NVRTC: " << error.what();
  }
}

CompileResult CudaGpuTest::build_for(const std::string& architecture, const std::string& source,
                                     const std::vector<std::string>& kernels) {
  GpuCompilerOptions options;
  options.vendor = &kCudaVendor;
  options.architecture = architecture;
  options.cache = cache();
  CompileRequest request;
  request.file = "test.cu";
  request.source = source;
  request.kernels = kernels;
  CompileResult built = make_gpu_compiler(process::Sandbox::best(), options)->compile(request);
  EXPECT_EQ(built.verdict, tasks::Verdict::Correct) << built.detail << "\n" << source;
  return built;
}

CompileResult CudaGpuTest::build(const std::string& source,
                                 const std::vector<std::string>& kernels) {
  return build_for(probe_.facts.architecture, source, kernels);
}

std::unique_ptr<Device> CudaGpuTest::open(const std::string& source,
                                          const std::vector<std::string>& kernels,
                                          std::chrono::milliseconds deadline) {
  GpuDeviceOptions options;
  options.helpers = build(std::string(gpu_helper_source()), gpu_helper_kernels()).module;
  options.deadline = deadline;
  options.on_fatal = [](const DeviceFault& fault) {
    std::fprintf(stderr, "%s\n", text_of(fault).c_str());
  };
  auto driver = open_cuda_driver(0);
  options.open_counters = [context = driver->context()] {
    return profiling::make_cupti_counters(context, 0);
  };
  auto device = make_gpu_device(std::move(driver), std::move(options));
  device->load_module(build(source, kernels).module);
  return device;
}

tasks::LaunchStep CudaGpuTest::step(const std::string& kernel, std::int64_t blocks,
                                    std::int64_t threads,
                                    std::vector<tasks::ResolvedArgument> arguments) {
  tasks::LaunchStep step;
  step.kernel = kernel;
  step.grid = {blocks, 1, 1};
  step.block = {threads, 1, 1};
  step.arguments = std::move(arguments);
  return step;
}

tasks::ResolvedArgument CudaGpuTest::pointer(const std::string& buffer, std::int64_t offset) {
  tasks::ResolvedArgument argument;
  argument.kind = tasks::ResolvedArgument::Kind::Pointer;
  argument.buffer = buffer;
  argument.offset_bytes = offset;
  argument.size_bytes = 8;
  return argument;
}

tasks::ResolvedArgument CudaGpuTest::integer(std::int64_t value, int bytes) {
  tasks::ResolvedArgument argument;
  argument.integer = value;
  argument.size_bytes = bytes;
  return argument;
}

std::string text_of(const std::optional<DeviceFault>& fault) {
  return fault ? std::string(to_string(fault->verdict)) + ": " + fault->detail : "no fault";
}

} // namespace winnow::evaluators
