#include "evaluators/device/cuda/cuda_library.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <dlfcn.h>
#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> library_paths(const std::vector<std::string>& file_names) {
  std::vector<std::string> paths;
  for (const std::string& name : file_names) {
    paths.push_back(name);
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator("/usr/local", ignored)) {
      if (entry.path().filename().string().starts_with("cuda")) {
        paths.push_back((entry.path() / "lib64" / name).string());
      }
    }
  }
  return paths;
}

} // namespace

void refuse_library(const std::string& call, const std::string& code, const std::string& why) {
  throw GpuError(call, code, why, GpuFailure::InvalidLaunch, false);
}

void* load_cuda_library(const std::vector<std::string>& file_names, const std::string& remedy) {
  for (const std::string& path : library_paths(file_names)) {
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return library;
    }
  }
  refuse_library("dlopen", file_names.front(), remedy);
}

LibraryWorkspace::~LibraryWorkspace() {
  try {
    if (address_ != 0) {
      driver_.release(address_);
    }
  } catch (const GpuError&) { // the context is lost, and the workspace with it
  }
}

void* LibraryWorkspace::get(std::size_t bytes) {
  if (address_ == 0) {
    address_ = driver_.allocate(std::max<std::size_t>(bytes, 1));
    bytes_ = bytes;
  }
  if (bytes > bytes_) {
    refuse_library("workspace", fmt::format("{} bytes", bytes),
                   fmt::format("its first call took {} bytes", bytes_));
  }
  return reinterpret_cast<void*>(address_);
}

std::unique_ptr<GpuLibrary> open_cuda_library(const std::string& name, GpuDriver& driver) {
  if (name == "cublaslt") {
    return open_cublaslt(driver);
  }
  if (name == "cufft") {
    return open_cufft(driver);
  }
  if (name == "cusparse") {
    return open_cusparse(driver);
  }
  refuse_library("open", name, "CUDA devices have no library of this name");
}

} // namespace winnow::evaluators
