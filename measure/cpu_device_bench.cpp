// Compares a kernel without barriers on the CPU device with the same loop in C++, both on one core:
// `cpu_device_bench [REPETITIONS]`. The kernel may be at most 1.5 times slower (docs/measurements).
#include "base/error.h"
#include "base/files.h"
#include "evaluators/device/cpu/compile/toolchain.h"
#include "evaluators/device/cpu/cpu_device.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>

namespace {

using namespace winnow;
using namespace winnow::evaluators;
using Loop = void (*)(int n, const float* x, float* y);

constexpr int kSide = 1024;
constexpr int kCount = kSide * kSide;

struct Case {
  const char* name;
  const char* kernel; ///< body of `__global__ void NAME(int n, const float* x, float* y)`
  const char* loop;   ///< body of the same function as a loop in C++
  std::array<std::int64_t, 3> grid;
  std::array<std::int64_t, 3> block;
};

const Case kCases[] = {
    {"axpy",
     "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += 0.5f * x[i];",
     "for (int i = 0; i < n; ++i) y[i] += 0.5f * x[i];",
     {kCount / 256, 1, 1},
     {256, 1, 1}},
    {"relu",
     "int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
     "if (i < n) y[i] = x[i] > 0 ? x[i] : 0.01f * x[i];",
     "for (int i = 0; i < n; ++i) y[i] = x[i] > 0 ? x[i] : 0.01f * x[i];",
     {kCount / 1024, 1, 1},
     {1024, 1, 1}},
    {"stencil",
     "int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;\n"
     "if (r > 0 && c > 0 && r < 1023 && c < 1023) y[r * 1024 + c] = 0.25f *\n"
     "(x[r * 1024 + c - 1] + x[r * 1024 + c + 1] + x[(r - 1) * 1024 + c] + "
     "x[(r + 1) * 1024 + c]);",
     "for (int r = 0; r < 1024; ++r) for (int c = 0; c < 1024; ++c)\n"
     "if (r > 0 && c > 0 && r < 1023 && c < 1023) y[r * 1024 + c] = 0.25f *\n"
     "(x[r * 1024 + c - 1] + x[r * 1024 + c + 1] + x[(r - 1) * 1024 + c] + x[(r + 1) * 1024 + c]);",
     {kSide / 256, kSide, 1},
     {256, 1, 1}},
    {"row_sum",
     "int r = blockIdx.x * blockDim.x + threadIdx.x; float sum = 0;\n"
     "for (int c = 0; c < 1024; ++c) sum += x[r * 1024 + c];\n y[r] = sum;",
     "for (int r = 0; r < 1024; ++r) { float sum = 0;\n"
     "for (int c = 0; c < 1024; ++c) sum += x[r * 1024 + c];\n y[r] = sum; }",
     {kSide / 128, 1, 1},
     {128, 1, 1}},
};

double median_us(int repetitions, const std::function<std::chrono::nanoseconds()>& once) {
  once();
  std::vector<double> samples;
  for (int i = 0; i < repetitions; ++i) {
    samples.push_back(std::chrono::duration<double, std::micro>(once()).count());
  }
  std::nth_element(samples.begin(), samples.begin() + repetitions / 2, samples.end());
  return samples[static_cast<std::size_t>(repetitions / 2)];
}

void must_run(const std::string& command) {
  if (std::system(command.c_str()) != 0) {
    throw Error("failed: " + command);
  }
}

std::string build(const TemporaryDirectory& directory, const Toolchain& toolchain,
                  const std::string& name, const std::string& source, const std::string& flags) {
  const std::string stem = (directory.path() / name).string();
  write_file_atomic(stem + ".cpp", source);
  must_run(fmt::format("{} {} {}.cpp -o {}.o", toolchain.compiler.string(), flags, stem, stem));
  must_run(fmt::format("{} -shared {}.o -o {}.so", toolchain.linker.string(), stem, stem));
  return stem + ".so";
}

std::string module_source() {
  std::string kernels;
  std::string table;
  for (const Case& one : kCases) {
    kernels += fmt::format("__global__ void {}(int n, const float* x, float* y) {{\n{}\n}}\n",
                           one.name, one.kernel);
    table += fmt::format("WINNOW_KERNEL(\"{0}\", {0}),\n", one.name);
  }
  return "#include \"winnow_core.h\"\n" + kernels +
         "extern \"C\" const WinnowKernel winnow_kernels[] = {\n" + table + "};\nWINNOW_MODULE\n";
}

std::string loops_source() {
  std::string source;
  for (const Case& one : kCases) {
    source += fmt::format("extern \"C\" void {}(int n, const float* x, float* y) {{\n{}\n}}\n",
                          one.name, one.loop);
  }
  return source;
}

tasks::LaunchStep step_of(const Case& one) {
  tasks::LaunchStep step;
  step.kernel = one.name;
  step.grid = one.grid;
  step.block = one.block;
  step.arguments.resize(3);
  step.arguments[0].integer = kCount;
  step.arguments[0].size_bytes = 4;
  for (const std::size_t i : {1U, 2U}) {
    step.arguments[i].kind = tasks::ResolvedArgument::Kind::Pointer;
    step.arguments[i].buffer = i == 1 ? "x" : "y";
    step.arguments[i].size_bytes = 8;
  }
  return step;
}

void measure(const Toolchain& toolchain, int repetitions) {
  const TemporaryDirectory directory("bench");
  std::string flags;
  for (const std::string& flag : compile_flags(toolchain, BuildMode::Plain, false)) {
    flags += flag + " ";
  }
  const std::string headers = WINNOW_SOURCE_DIR "/evaluators/device";
  const std::string module =
      build(directory, toolchain, "module", module_source(),
            fmt::format("{} -I{}/headers/cpu -I{}/cpu", flags, headers, headers));
  const std::string arch = flags.find("x86-64-v3") != std::string::npos ? "-march=x86-64-v3" : "";
  const std::string loops =
      build(directory, toolchain, "loops", loops_source(), "-std=c++17 -O2 -fPIC -c " + arch);
  void* handle = dlopen(loops.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw Error(dlerror());
  }
  CpuDeviceOptions options;
  options.workers = 1;
  const auto device = make_cpu_device(options);
  device->load_module(module);
  std::vector<float> x(kCount, 1.5F);
  std::vector<float> y(kCount, 0.0F);
  device->upload(device->allocate("x", kCount * sizeof(float), true), std::as_bytes(std::span(x)));
  device->upload(device->allocate("y", kCount * sizeof(float), false), std::as_bytes(std::span(y)));
  for (const Case& one : kCases) {
    const std::vector<tasks::Step> steps{step_of(one)};
    const double kernel_us = median_us(repetitions, [&] {
      if (const auto fault = device->run(steps)) {
        throw Error(fault->detail);
      }
      return device->elapsed();
    });
    const auto loop = reinterpret_cast<Loop>(dlsym(handle, one.name));
    const double loop_us = median_us(repetitions, [&] {
      const auto start = std::chrono::steady_clock::now();
      loop(kCount, x.data(), y.data());
      return std::chrono::steady_clock::now() - start;
    });
    fmt::print("{:<20} {:<10} {:>10.0f} {:>10.0f} {:>7.2f}\n", toolchain.version, one.name,
               kernel_us, loop_us, kernel_us / loop_us);
  }
}

} // namespace

int main(int argc, char** argv) {
  try {
    const int repetitions = argc > 1 ? std::max(std::atoi(argv[1]), 1) : 31;
    fmt::print("{:<20} {:<10} {:>10} {:>10} {:>7}   (median of {}, one core, {} elements)\n",
               "compiler", "kernel", "device us", "loop us", "ratio", repetitions, kCount);
    for (const char* name : {"clang++", "g++"}) {
      const ToolchainProbe probe = probe_toolchain(name);
      if (probe.toolchain) {
        measure(*probe.toolchain, repetitions);
      } else {
        fmt::print("{:<20} not measured: {}\n", name, probe.availability.why);
      }
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
