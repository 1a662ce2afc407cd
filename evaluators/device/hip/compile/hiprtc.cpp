#include "evaluators/device/hip/compile/hiprtc.h"

#include "base/error.h"
#include "base/text.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

// The prototypes of <hip/hiprtc.h>, unchanged since ROCm 4. They are declared here so that one
// program serves machines with and without that header.
extern "C" {
using Program = struct HiprtcProgram*;
using CreateProgram = int(Program*, const char* source, const char* name, int headers,
                          const char** header_texts, const char** header_names);
using DestroyProgram = int(Program*);
using AddNameExpression = int(Program, const char* expression);
using CompileProgram = int(Program, int options, const char** option_texts);
using GetLoweredName = int(Program, const char* expression, const char** lowered);
using GetSize = int(Program, std::size_t*);
using GetBytes = int(Program, char*);
using GetErrorString = const char*(int);
}
constexpr int kSuccess = 0;          // HIPRTC_SUCCESS
constexpr int kErrorCompilation = 6; // HIPRTC_ERROR_COMPILATION

constexpr const char* kRemedy =
    "install ROCm's HIP runtime (Debian, Ubuntu: apt-get install libamdhip64-dev)";

/// The functions of the library, which is never unloaded.
struct Hiprtc {
  std::string library;
  int rocm_major = 0;
  CreateProgram* create_program = nullptr;
  DestroyProgram* destroy_program = nullptr;
  AddNameExpression* add_name_expression = nullptr;
  CompileProgram* compile_program = nullptr;
  GetLoweredName* get_lowered_name = nullptr;
  GetSize* get_log_size = nullptr;
  GetBytes* get_log = nullptr;
  GetSize* get_code_size = nullptr;
  GetBytes* get_code = nullptr;
  GetErrorString* get_error_string = nullptr;
  std::string why; ///< empty `library`: why there is none
};

template <class Function>
void resolve(void* library, const char* name, Function*& function, std::string& missing) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr && missing.empty()) {
    missing = name;
  }
}

std::string resolve_all(void* library, Hiprtc& api) {
  std::string missing;
  resolve(library, "hiprtcCreateProgram", api.create_program, missing);
  resolve(library, "hiprtcDestroyProgram", api.destroy_program, missing);
  resolve(library, "hiprtcAddNameExpression", api.add_name_expression, missing);
  resolve(library, "hiprtcCompileProgram", api.compile_program, missing);
  resolve(library, "hiprtcGetLoweredName", api.get_lowered_name, missing);
  resolve(library, "hiprtcGetProgramLogSize", api.get_log_size, missing);
  resolve(library, "hiprtcGetProgramLog", api.get_log, missing);
  resolve(library, "hiprtcGetCodeSize", api.get_code_size, missing);
  resolve(library, "hiprtcGetCode", api.get_code, missing);
  resolve(library, "hiprtcGetErrorString", api.get_error_string, missing);
  return missing;
}

// The path of the library that has `function`. Its name has the full version:
// libamdhip64.so.5.2.21153.
std::string file_of(void* function, const std::string& name) {
  Dl_info found{};
  if (dladdr(function, &found) == 0 || found.dli_fname == nullptr) {
    return name;
  }
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(found.dli_fname, error);
  return error ? name : file.string();
}

// In ROCm 5, hiprtc is part of libamdhip64; later versions have a library of its own for it.
Hiprtc load_hiprtc() {
  Hiprtc api;
  for (const char* stem : {"libhiprtc.so", "libamdhip64.so"}) {
    for (const int major : {7, 6, 5}) {
      const std::string name = fmt::format("{}.{}", stem, major);
      void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) {
        continue;
      }
      const std::string missing = resolve_all(library, api);
      if (missing.empty()) {
        api.library = file_of(reinterpret_cast<void*>(api.create_program), name);
        api.rocm_major = major;
        return api;
      }
      api.why = fmt::format("{} lacks {}", name, missing);
    }
  }
  if (api.why.empty()) {
    api.why = "neither libhiprtc.so.{7,6,5} nor libamdhip64.so.{7,6,5} can be loaded";
  }
  return api;
}

const Hiprtc& hiprtc() {
  static const Hiprtc api = load_hiprtc();
  return api;
}

/// A compilation in progress. The destructor destroys it.
class ProgramOwner {
public:
  ProgramOwner(const Hiprtc& api, const RuntimeCompileJob& job) : api_(api) {
    check(api.create_program(&program_, job.source.c_str(), job.file.c_str(), 0, nullptr, nullptr),
          "hiprtcCreateProgram");
  }
  ~ProgramOwner() { api_.destroy_program(&program_); }
  ProgramOwner(const ProgramOwner&) = delete; // owns the program
  ProgramOwner& operator=(const ProgramOwner&) = delete;

  Program get() const { return program_; }

  void check(int result, const char* call) const {
    if (result != kSuccess) {
      throw Error(
          fmt::format("{} of {} failed: {}", call, api_.library, api_.get_error_string(result)));
    }
  }

  template <class Bytes>
  Bytes read(GetSize* size_call, GetBytes* bytes_call, const char* what) const {
    std::size_t size = 0;
    check(size_call(program_, &size), what);
    Bytes bytes(size, typename Bytes::value_type{});
    if (size > 0) {
      check(bytes_call(program_, reinterpret_cast<char*>(bytes.data())), what);
    }
    return bytes;
  }

private:
  const Hiprtc& api_;
  Program program_ = nullptr;
};

std::vector<std::string> options_of(const RuntimeCompileJob& job) {
  std::vector<std::string> options{"--offload-arch=" + job.architecture, "-std=c++17", "-O3",
                                   "-Wno-ignored-attributes"}; // for winnow_entry.h
  if (job.fast_math) {
    options.emplace_back("-ffast-math");
  }
  for (const std::string& directory : job.include_directories) {
    options.push_back("-I" + directory);
  }
  return options;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

// Rewrites a log for the candidate's author. hiprtc names a temporary file instead of the given
// name. Winnow's headers (headers/hip) use other names for std:: and half, to avoid clashes with
// hiprtc's.
std::string in_the_candidates_words(std::string log, const std::string& file) {
  constexpr std::string_view kSource = "/input/CompileSource";
  std::size_t begin = 0;
  for (std::size_t at = log.find(kSource); at != std::string::npos; at = log.find(kSource, begin)) {
    const std::size_t before = log.find_last_of(" \n", at);
    begin = before == std::string::npos ? 0 : before + 1;
    log.replace(begin, at + kSource.size() - begin, file);
    begin += file.size();
  }
  replace_all(log, "winnow_std", "std");
  replace_all(log, "__half_winnow", "__half");
  replace_all(log, "__half2_winnow", "__half2");
  return log;
}

class HiprtcCompiler final : public RuntimeCompiler {
public:
  explicit HiprtcCompiler(const Hiprtc& api) : api_(api) {}

  RuntimeCompileOutput compile(const RuntimeCompileJob& job) override {
    check_architecture(job.architecture);
    const ProgramOwner program(api_, job);
    for (const std::string& expression : job.instantiated) {
      program.check(api_.add_name_expression(program.get(), expression.c_str()),
                    "hiprtcAddNameExpression");
    }
    const std::vector<std::string> options = options_of(job);
    std::vector<const char*> pointers;
    for (const std::string& option : options) {
      pointers.push_back(option.c_str());
    }
    const int result =
        api_.compile_program(program.get(), static_cast<int>(pointers.size()), pointers.data());
    RuntimeCompileOutput output;
    output.log = in_the_candidates_words(read_log(program), job.file);
    if (result == kErrorCompilation) {
      return output;
    }
    program.check(result, "hiprtcCompileProgram");
    output.compiled = true;
    output.image =
        program.read<std::vector<std::byte>>(api_.get_code_size, api_.get_code, "hiprtcGetCode");
    for (const std::string& expression : job.instantiated) {
      output.symbols[expression] = symbol_of(program, expression);
    }
    return output;
  }

private:
  void check_architecture(const std::string& architecture) const {
    const std::vector<std::string> known = hip_architectures(api_.rocm_major);
    if (std::find(known.begin(), known.end(), architecture) == known.end()) {
      throw Error(fmt::format("the hiprtc of ROCm {} does not compile for '{}'", api_.rocm_major,
                              architecture),
                  "it compiles for: " + join(known, ", "));
    }
  }

  std::string read_log(const ProgramOwner& program) const {
    std::string log =
        program.read<std::string>(api_.get_log_size, api_.get_log, "hiprtcGetProgramLog");
    log.resize(std::min(log.size(), log.find('\0')));
    return log;
  }

  std::string symbol_of(const ProgramOwner& program, const std::string& expression) const {
    const char* lowered = nullptr;
    program.check(api_.get_lowered_name(program.get(), expression.c_str(), &lowered),
                  "hiprtcGetLoweredName");
    return lowered;
  }

  const Hiprtc& api_;
};

} // namespace

std::unique_ptr<RuntimeCompiler> open_hiprtc() {
  if (hiprtc().library.empty()) {
    throw Error("no hiprtc: " + hiprtc().why, kRemedy);
  }
  return std::make_unique<HiprtcCompiler>(hiprtc());
}

Availability probe_hiprtc() {
  if (hiprtc().library.empty()) {
    return Availability::no("no hiprtc: " + hiprtc().why, kRemedy);
  }
  return Availability::yes(
      fmt::format("hiprtc of ROCm {} ({})", hiprtc().rocm_major, hiprtc().library));
}

int hiprtc_rocm_major() {
  return hiprtc().rocm_major;
}

} // namespace winnow::evaluators
