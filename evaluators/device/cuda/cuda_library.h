#pragma once

#include "base/function_finder.h"
#include "evaluators/device/gpu/gpu_library.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// The GpuLibraryOpener of CUDA devices: "cublaslt", "cufft" or "cusparse". The first call loads
/// the library from the loader's path or from the toolkit's folder (/usr/local/cuda*/lib64); it is
/// never unloaded. Throws GpuError (InvalidLaunch).
std::unique_ptr<GpuLibrary> open_cuda_library(const std::string& name, GpuDriver& driver);

std::unique_ptr<GpuLibrary> open_cublaslt(GpuDriver& driver);
std::unique_ptr<GpuLibrary> open_cufft(GpuDriver& driver);
std::unique_ptr<GpuLibrary> open_cusparse(GpuDriver& driver);

[[noreturn]] void refuse_library(const std::string& call, const std::string& code,
                                 const std::string& why);

/// Loads the first of `file_names` ("libcufft.so.12") that is there. Throws GpuError with the
/// `remedy` when none is.
void* load_cuda_library(const std::vector<std::string>& file_names, const std::string& remedy);

/// Defines the struct `Type`, with a member for each function of LIST, and `get()`, which finds the
/// functions in the first of the named files that is there, once. `library` and `remedy`: for
/// messages.
#define WINNOW_LIBRARY_MEMBER(name) decltype(&::name) name = nullptr;
#define WINNOW_LIBRARY_FIND(name) finder.find(WINNOW_SYMBOL(name), functions.name);
#define WINNOW_CUDA_LIBRARY(Type, get, LIST, library, remedy, ...)                                 \
  struct Type {                                                                                    \
    LIST(WINNOW_LIBRARY_MEMBER)                                                                    \
  };                                                                                               \
  const Type& get() {                                                                              \
    static const Type loaded = [] {                                                                \
      Type functions;                                                                              \
      FunctionFinder finder(load_cuda_library({__VA_ARGS__}, remedy));                             \
      LIST(WINNOW_LIBRARY_FIND)                                                                    \
      if (!finder.missing().empty()) {                                                             \
        refuse_library("dlsym", finder.missing(), "this " library " has no such function");        \
      }                                                                                            \
      return functions;                                                                            \
    }();                                                                                           \
    return loaded;                                                                                 \
  }

/// A handle and the function that destroys it.
template <class Handle, class Destroy> class LibraryHandle {
public:
  explicit LibraryHandle(Destroy destroy) : destroy_(destroy) {}
  ~LibraryHandle() {
    if (handle_ != Handle{}) {
      destroy_(handle_);
    }
  }
  LibraryHandle(const LibraryHandle&) = delete; // owns the handle
  LibraryHandle& operator=(const LibraryHandle&) = delete;
  Handle* out() { return &handle_; }
  Handle get() const { return handle_; }

private:
  Destroy destroy_;
  Handle handle_{};
};

/// Device memory for the intermediate results of a library.
class LibraryWorkspace {
public:
  explicit LibraryWorkspace(GpuDriver& driver) : driver_(driver) {}
  ~LibraryWorkspace();
  LibraryWorkspace(const LibraryWorkspace&) = delete; // owns device memory
  LibraryWorkspace& operator=(const LibraryWorkspace&) = delete;

  /// Allocates `bytes` at the first call, and returns the same address at later calls. Throws
  /// GpuError, also if a later call asks for more.
  void* get(std::size_t bytes);

private:
  GpuDriver& driver_;
  GpuAddress address_ = 0;
  std::size_t bytes_ = 0;
};

} // namespace winnow::evaluators
