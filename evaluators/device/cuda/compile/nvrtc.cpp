#include "evaluators/device/cuda/compile/nvrtc.h"

#include "evaluators/device/cuda/compile/nvrtc_library.h"
#include "evaluators/device/inspect/ptxas_log.h"

#include <chrono>

namespace winnow::evaluators {
namespace {

std::vector<std::string> all_options(const RuntimeCompileJob& job) {
  std::vector<std::string> options = nvrtc_options(job.architecture, job.fast_math);
  const std::vector<std::string> includes = include_options(job);
  options.insert(options.end(), includes.begin(), includes.end());
  return options;
}

class Nvrtc final : public RuntimeCompiler {
public:
  Nvrtc(const std::filesystem::path& library, const std::filesystem::path& builtins)
      : library_(library, builtins) {}

  RuntimeCompileOutput compile(const RuntimeCompileJob& job) override {
    const NvrtcFunctions& nvrtc = library_.functions();
    const RtcProgram program(nvrtc.common, job);
    RuntimeCompileOutput output;
    const auto start = std::chrono::steady_clock::now();
    output.compiled = program.compile(all_options(job));
    output.compiler_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    output.log = program.log();
    output.ptx = program.text(nvrtc.ptx_size, nvrtc.ptx);
    if (output.compiled) {
      program.read_image(job, output);
    } else {
      output.log = name_ptx_lines(output.log, output.ptx);
    }
    return output;
  }

private:
  NvrtcLibrary library_;
};

} // namespace

Availability probe_nvrtc() {
  return find_nvrtc().availability;
}

std::vector<std::string> nvrtc_options(const std::string& architecture, bool fast_math) {
  std::vector<std::string> options{
      "--gpu-architecture=" + architecture,
      "-std=c++17",
      "-default-device",          // helpers without __device__ are common
      "--brief-diagnostics=true", // messages go to a model: no lines of other files
      "--ptxas-options=-v",       // prints registers, spills and shared memory of each kernel
  };
  if (fast_math) {
    options.emplace_back("--use_fast_math");
  }
  return options;
}

std::unique_ptr<RuntimeCompiler> open_nvrtc(const std::filesystem::path& library,
                                            const std::filesystem::path& builtins) {
  return std::make_unique<Nvrtc>(library, builtins);
}

} // namespace winnow::evaluators
