#include "evaluators/device/cuda/compile/nvrtc_library.h"

#include "base/error.h"
#include "base/function_finder.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

namespace winnow::evaluators {
namespace {

// NVRTC never frees some memory. If the library were unloaded, leak reports could not name it.
constexpr int kOpenForGood = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;

namespace fs = std::filesystem;

constexpr const char* kNvrtcRemedy = "install CUDA 12 or 13 (packages cuda-nvrtc and cuda-cccl), "
                                     "or set CUDA_HOME to the folder of the toolkit";
constexpr const char* kLibraryNames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
constexpr const char* kBuiltins = "libnvrtc-builtins.so";

NvrtcFunctions find_functions(void* library) {
  NvrtcFunctions functions;
  FunctionFinder finder(library);
  finder.find("nvrtcVersion", functions.version);
  finder.find("nvrtcGetPTXSize", functions.ptx_size);
  finder.find("nvrtcGetPTX", functions.ptx);
  const std::string missing = find_rtc_functions(library, "nvrtc", "GetCUBIN", functions.common);
  if (!missing.empty() || !finder.missing().empty()) {
    throw Error(
        fmt::format("NVRTC lacks the function {}", missing.empty() ? finder.missing() : missing),
        kNvrtcRemedy);
  }
  return functions;
}

fs::path real_path(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? fs::path() : real;
}

std::vector<fs::path> toolkit_roots() {
  std::vector<fs::path> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(variable); value != nullptr && *value == '/') {
      roots.emplace_back(value);
    }
  }
  return roots;
}

// First /usr/local/cuda, then the versions beside it, newest first, then /opt/cuda.
std::vector<fs::path> usual_roots() {
  std::vector<fs::path> versions;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/local", error)) {
    if (entry.path().filename().string().rfind("cuda-", 0) == 0) {
      versions.push_back(entry.path());
    }
  }
  std::sort(versions.rbegin(), versions.rend());
  std::vector<fs::path> roots{"/usr/local/cuda"};
  roots.insert(roots.end(), versions.begin(), versions.end());
  roots.emplace_back("/opt/cuda");
  return roots;
}

void add_libraries(const std::vector<fs::path>& roots, std::vector<fs::path>& candidates) {
  for (const fs::path& root : roots) {
    for (const char* folder : {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib",
                               "lib/x86_64-linux-gnu"}) {
      for (const char* name : kLibraryNames) {
        std::error_code error;
        if (fs::exists(root / folder / name, error)) {
          candidates.push_back(root / folder / name);
        }
      }
    }
  }
}

std::vector<fs::path> library_candidates() {
  std::vector<fs::path> candidates;
  add_libraries(toolkit_roots(), candidates);
  candidates.insert(candidates.end(), std::begin(kLibraryNames), std::end(kLibraryNames));
  add_libraries(usual_roots(), candidates);
  return candidates;
}

// "libnvrtc-builtins.so.13.0" beside the library, but not "libnvrtc-builtins.alt.so...".
fs::path find_builtins(const fs::path& library) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(library.parent_path(), error)) {
    if (entry.path().filename().string().rfind(kBuiltins, 0) == 0) {
      return real_path(entry.path());
    }
  }
  return {};
}

// The headers lie beside the toolkit's libraries, or in the folder of another Python package.
std::vector<fs::path> find_includes(const fs::path& library) {
  const fs::path lib = library.parent_path();
  std::vector<fs::path> folders{lib / "../include", lib / "../../../include",
                                lib / "../../cuda_runtime/include"};
  for (const auto& roots : {toolkit_roots(), usual_roots()}) {
    for (const fs::path& root : roots) {
      folders.push_back(root / "include");
    }
  }
  folders.emplace_back("/usr/include");
  for (const fs::path& folder : folders) {
    std::error_code error;
    const fs::path real = real_path(folder);
    if (real.empty() || !fs::exists(real / "cuda_fp16.h", error)) {
      continue;
    }
    std::vector<fs::path> found{real};
    for (const fs::path& cccl : {real / "cccl", real / "../../cuda_cccl/include"}) {
      if (fs::exists(cccl / "cuda/std", error)) {
        found.push_back(real_path(cccl));
      }
    }
    return found;
  }
  return {};
}

NvrtcInstallation inspect(const fs::path& candidate) {
  const NvrtcLibrary library(candidate, {});
  int major = 0;
  int minor = 0;
  library.functions().version(&major, &minor);
  NvrtcInstallation found;
  found.library = library.path();
  found.builtins = find_builtins(found.library);
  found.include_directories = find_includes(found.library);
  found.version = fmt::format("NVRTC {}.{}", major, minor);
  return found;
}

} // namespace

void NvrtcLibrary::Close::operator()(void* handle) const {
  dlclose(handle);
}

NvrtcLibrary::NvrtcLibrary(const fs::path& library, const fs::path& builtins) {
  if (!builtins.empty()) {
    builtins_.reset(dlopen(builtins.c_str(), kOpenForGood));
  }
  handle_.reset(dlopen(library.c_str(), kOpenForGood));
  if (!handle_) {
    const char* why = dlerror();
    throw Error(fmt::format("NVRTC cannot be loaded: {}", why != nullptr ? why : "no reason given"),
                kNvrtcRemedy);
  }
  functions_ = find_functions(handle_.get());
}

fs::path NvrtcLibrary::path() const {
  const link_map* map = nullptr;
  return dlinfo(handle_.get(), RTLD_DI_LINKMAP, &map) == 0 && map != nullptr
             ? real_path(map->l_name)
             : fs::path();
}

NvrtcSearch find_nvrtc() {
  std::string why;
  for (const fs::path& candidate : library_candidates()) {
    try {
      NvrtcInstallation found = inspect(candidate);
      const std::string headers =
          found.include_directories.empty()
              ? "no CUDA headers: kernels that include cuda_fp16.h and the like do not compile"
              : "headers in " + found.include_directories.front().string();
      const std::string detail =
          fmt::format("{} ({}), {}", found.version, found.library.string(), headers);
      return {std::move(found), Availability::yes(detail)};
    } catch (const Error& error) {
      why = error.what();
    }
  }
  return {std::nullopt, Availability::no(why, kNvrtcRemedy)};
}

} // namespace winnow::evaluators
