#include "profiling/counters/cupti_functions.h"

#include "base/function_finder.h"

#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace winnow::profiling::cupti {
namespace {

constexpr const char* kLibrary = "libcupti.so.13";
constexpr const char* kLibraryVariable = "WINNOW_CUPTI_LIBRARY";
constexpr const char* kRemedy =
    "install CUPTI of CUDA 13 (package cuda-cupti-13-0, or the CUDA toolkit), or give the path of "
    "its libcupti.so.13 in WINNOW_CUPTI_LIBRARY";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

void* open_first(const std::vector<std::string>& candidates, std::string& path, std::string& why) {
  for (const std::string& candidate : candidates) {
    if (void* library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL); library != nullptr) {
      path = candidate;
      return library;
    }
    if (why.empty()) { // keep the error for the loader's own path, which comes first
      why = dlerror();
    }
  }
  return nullptr;
}

} // namespace

std::vector<std::string> library_candidates() {
  if (const std::string named = variable(kLibraryVariable); !named.empty()) {
    return {named};
  }
  std::vector<std::string> candidates = {kLibrary};
  for (const std::string& toolkit :
       {variable("CUDA_HOME"), variable("CUDA_PATH"), std::string("/usr/local/cuda"),
        std::string("/usr/local/cuda-13"), std::string("/opt/cuda")}) {
    if (!toolkit.empty()) {
      for (const char* folder : {"lib64", "lib", "extras/CUPTI/lib64"}) {
        candidates.push_back(fmt::format("{}/{}/{}", toolkit, folder, kLibrary));
      }
    }
  }
  return candidates;
}

Library load_library() {
  Library loaded;
  std::string why;
  const std::vector<std::string> candidates = library_candidates();
  void* library = open_first(candidates, loaded.functions.path, why);
  if (library == nullptr) {
    loaded.availability = Availability::no(
        fmt::format("cannot load CUPTI: {} (looked for: {})", why, fmt::join(candidates, ", ")),
        kRemedy);
    return loaded;
  }
  FunctionFinder finder(library);
#define WINNOW_CUPTI_FIND(name) finder.find(#name, loaded.functions.name);
  WINNOW_CUPTI_FUNCTIONS(WINNOW_CUPTI_FIND)
#undef WINNOW_CUPTI_FIND
  loaded.availability = finder.missing().empty()
                            ? Availability::yes(loaded.functions.path)
                            : Availability::no(fmt::format("{} has no function {}",
                                                           loaded.functions.path, finder.missing()),
                                               kRemedy);
  return loaded;
}

} // namespace winnow::profiling::cupti
