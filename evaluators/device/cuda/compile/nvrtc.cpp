#include "evaluators/device/cuda/compile/nvrtc.h"

#include "base/error.h"
#include "evaluators/device/cuda/compile/nvrtc_library.h"
#include "evaluators/device/inspect/ptxas_log.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <sys/personality.h>

namespace winnow::evaluators {
namespace {

constexpr int kSuccess = 0; // NVRTC_SUCCESS
constexpr std::size_t kMaxPrecompileLog = 1000;

std::vector<std::string> all_options(const RuntimeCompileJob& job) {
  std::vector<std::string> options = nvrtc_options(job.architecture, job.fast_math);
  const std::vector<std::string> includes = include_options(job);
  options.insert(options.end(), includes.begin(), includes.end());
  return options;
}

// The only sign that NVRTC used the file is a note in the first line of the log. The note is
// removed, because it names a file of Winnow's.
bool take_note_of_use(const RuntimeCompileJob& job, std::string& log) {
  if (log.rfind(fmt::format("\"{}\": using precompiled header file \"", job.file), 0) != 0) {
    return false;
  }
  const std::size_t end = log.find('\n');
  log.erase(0, end == std::string::npos ? end : end + 1);
  return true;
}

RuntimeCompileOutput compile_with(const NvrtcFunctions& nvrtc, const RuntimeCompileJob& job,
                                  const std::vector<std::string>& options) {
  const RtcProgram program(nvrtc.common, job);
  RuntimeCompileOutput output;
  const auto start = std::chrono::steady_clock::now();
  output.compiled = program.compile(options);
  output.compiler_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  output.log = program.log();
  output.used_precompiled = take_note_of_use(job, output.log);
  if (!output.compiled) {
    output.log = name_ptx_lines(output.log, program.text(nvrtc.ptx_size, nvrtc.ptx));
    return output;
  }
  program.read_image(job, output);
  return output;
}

class Nvrtc final : public RuntimeCompiler {
public:
  Nvrtc(const std::filesystem::path& library, const std::filesystem::path& builtins)
      : library_(library, builtins) {}

  RuntimeCompileOutput compile(const RuntimeCompileJob& job) override {
    const NvrtcFunctions& nvrtc = library_.functions();
    std::vector<std::string> options = all_options(job);
    // NVRTC checks the address of its heap only, not whether pointers inside are still valid.
    if (job.precompiled && job.precompiled->library_address == library_.address() &&
        nvrtc.set_pch_heap_size(kMaxPrecompiledBytes) == kSuccess) {
      options.push_back("--use-pch=" + job.precompiled->file.string());
      RuntimeCompileOutput output = compile_with(nvrtc, job, options);
      if (output.compiled || output.used_precompiled) {
        return output;
      }
      options.pop_back(); // the file is gone or damaged, which may be the cause of the error
    }
    return compile_with(nvrtc, job, options);
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

PrecompiledHeader precompile_with_nvrtc(const std::filesystem::path& library,
                                        const std::filesystem::path& builtins,
                                        const RuntimeCompileJob& job,
                                        const std::filesystem::path& file) {
  constexpr unsigned long kQuery = 0xffffffff;
  if ((static_cast<unsigned>(personality(kQuery)) & ADDR_NO_RANDOMIZE) == 0) {
    throw Error("address space randomisation cannot be switched off for a compiler here");
  }
  const NvrtcLibrary loaded(library, builtins);
  const NvrtcFunctions& nvrtc = loaded.functions();
  if (nvrtc.set_pch_heap_size == nullptr || nvrtc.pch_create_status == nullptr ||
      nvrtc.set_pch_heap_size(kMaxPrecompiledBytes) != kSuccess) {
    throw Error("this NVRTC has no precompiled headers", "install CUDA 12.8 or later");
  }
  std::vector<std::string> options = all_options(job);
  options.push_back("--create-pch=" + file.string());
  const RtcProgram program(nvrtc.common, job);
  if (!program.compile(options) || nvrtc.pch_create_status(program.get()) != kSuccess) {
    throw Error("NVRTC did not precompile headers: " + program.log().substr(0, kMaxPrecompileLog));
  }
  return {file, loaded.address()};
}

std::unique_ptr<RuntimeCompiler> open_nvrtc(const std::filesystem::path& library,
                                            const std::filesystem::path& builtins) {
  return std::make_unique<Nvrtc>(library, builtins);
}

} // namespace winnow::evaluators
