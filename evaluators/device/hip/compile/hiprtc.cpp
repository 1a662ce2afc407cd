#include "evaluators/device/hip/compile/hiprtc.h"

#include "base/error.h"
#include "base/text.h"
#include "evaluators/device/gpu/compile/rtc_program.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <dlfcn.h>
#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

constexpr const char* kRemedy =
    "install ROCm's HIP runtime (Debian, Ubuntu: apt-get install libamdhip64-dev)";

/// The library, which is never unloaded.
struct Hiprtc {
  std::string library;
  int rocm_major = 0;
  RtcFunctions functions;
  std::string why; ///< empty `library`: why there is none
};

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
      const std::string missing = find_rtc_functions(library, "hiprtc", "GetCode", api.functions);
      if (missing.empty()) {
        api.library = file_of(reinterpret_cast<void*>(api.functions.create_program), name);
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

std::vector<std::string> options_of(const RuntimeCompileJob& job) {
  std::vector<std::string> options{"--offload-arch=" + job.architecture, "-std=c++17", "-O3",
                                   "-Wno-ignored-attributes"}; // for winnow_entry.h
  if (job.fast_math) {
    options.emplace_back("-ffast-math");
  }
  const std::vector<std::string> includes = include_options(job);
  options.insert(options.end(), includes.begin(), includes.end());
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
    const RtcProgram program(api_.functions, job);
    RuntimeCompileOutput output;
    output.compiled = program.compile(options_of(job));
    output.log = in_the_candidates_words(program.log(), job.file);
    if (output.compiled) {
      program.read_image(job, output);
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
