#include "evaluators/device/cuda/compile/nvrtc.h"

#include "base/error.h"
#include "base/text.h"
#include "evaluators/device/cuda/compile/nvrtc_library.h"
#include "evaluators/device/inspect/ptxas_log.h"

#include <chrono>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <sys/personality.h>

namespace winnow::evaluators {
namespace {

// Values of nvrtcResult.
constexpr int kSuccess = 0;
constexpr int kOutOfMemory = 1;
constexpr int kErrorCompilation = 6;

constexpr std::size_t kMaxPrecompileLog = 1000;

/// A compilation in progress. The destructor destroys it.
class Program {
public:
  Program(const NvrtcFunctions& nvrtc, const RuntimeCompileJob& job) : nvrtc_(nvrtc) {
    check(
        nvrtc_.create_program(&program_, job.source.c_str(), job.file.c_str(), 0, nullptr, nullptr),
        "nvrtcCreateProgram");
  }
  ~Program() { nvrtc_.destroy_program(&program_); }
  Program(const Program&) = delete; // owns the program
  Program& operator=(const Program&) = delete;

  void add_name(const std::string& expression) const {
    check(nvrtc_.add_name_expression(program_, expression.c_str()), "nvrtcAddNameExpression");
  }

  // False when the source is wrong.
  bool compile(const std::vector<std::string>& options) const {
    std::vector<const char*> pointers;
    pointers.reserve(options.size());
    for (const std::string& option : options) {
      pointers.push_back(option.c_str());
    }
    const int result =
        nvrtc_.compile_program(program_, static_cast<int>(pointers.size()), pointers.data());
    if (result == kErrorCompilation) {
      return false;
    }
    if (result != kSuccess && result != kOutOfMemory) {
      throw Error(fmt::format("nvrtcCompileProgram: {}: {}", nvrtc_.error_string(result),
                              truncate_text(log(), kMaxLogBytes)));
    }
    check(result, "nvrtcCompileProgram");
    return true;
  }

  std::string log() const { return text(nvrtc_.log_size, nvrtc_.log); }
  std::string ptx() const { return text(nvrtc_.ptx_size, nvrtc_.ptx); }

  std::vector<std::byte> cubin() const {
    std::size_t bytes = 0;
    check(nvrtc_.cubin_size(program_, &bytes), "nvrtcGetCUBINSize");
    std::vector<std::byte> image(bytes);
    check(nvrtc_.cubin(program_, reinterpret_cast<char*>(image.data())), "nvrtcGetCUBIN");
    return image;
  }

  bool precompiled() const { return nvrtc_.pch_create_status(program_) == kSuccess; }

  std::string symbol(const std::string& expression) const {
    const char* name = nullptr;
    check(nvrtc_.lowered_name(program_, expression.c_str(), &name), "nvrtcGetLoweredName");
    return name;
  }

private:
  static constexpr std::size_t kMaxLogBytes = 2000;

  void check(int result, const char* call) const {
    if (result == kOutOfMemory) {
      throw std::bad_alloc();
    }
    if (result != kSuccess) {
      throw Error(fmt::format("{}: {}", call, nvrtc_.error_string(result)));
    }
  }

  std::string text(int (*size)(NvrtcProgram, std::size_t*), int (*get)(NvrtcProgram, char*)) const {
    std::size_t bytes = 0;
    if (size(program_, &bytes) != kSuccess || bytes == 0) {
      return {};
    }
    std::string out(bytes, '\0');
    if (get(program_, out.data()) != kSuccess) {
      return {};
    }
    out.resize(out.find('\0') == std::string::npos ? bytes : out.find('\0'));
    return out;
  }

  const NvrtcFunctions& nvrtc_;
  NvrtcProgram program_ = nullptr;
};

std::vector<std::string> all_options(const RuntimeCompileJob& job) {
  std::vector<std::string> options = nvrtc_options(job.architecture, job.fast_math);
  for (const std::string& directory : job.include_directories) {
    options.push_back("-I" + directory);
  }
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
  const Program program(nvrtc, job);
  for (const std::string& name : job.instantiated) {
    program.add_name(name);
  }
  RuntimeCompileOutput output;
  const auto start = std::chrono::steady_clock::now();
  output.compiled = program.compile(options);
  output.compiler_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  output.log = program.log();
  output.used_precompiled = take_note_of_use(job, output.log);
  if (!output.compiled) {
    output.log = name_ptx_lines(output.log, program.ptx());
    return output;
  }
  output.image = program.cubin();
  for (const std::string& name : job.instantiated) {
    output.symbols[name] = program.symbol(name);
  }
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
  const Program program(nvrtc, job);
  if (!program.compile(options) || !program.precompiled()) {
    throw Error("NVRTC did not precompile headers: " + program.log().substr(0, kMaxPrecompileLog));
  }
  return {file, loaded.address()};
}

std::unique_ptr<RuntimeCompiler> open_nvrtc(const std::filesystem::path& library,
                                            const std::filesystem::path& builtins) {
  return std::make_unique<Nvrtc>(library, builtins);
}

} // namespace winnow::evaluators
