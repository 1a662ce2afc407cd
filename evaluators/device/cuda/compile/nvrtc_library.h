#pragma once

#include "base/availability.h"
#include "evaluators/device/gpu/compile/rtc_program.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// An NVRTC of CUDA 12 or 13 with the files that it needs. All paths are real paths.
struct NvrtcInstallation {
  std::filesystem::path library;
  std::filesystem::path builtins; ///< NVRTC loads this file by name; empty: NVRTC finds it itself
  std::vector<std::filesystem::path> include_directories; ///< headers of the toolkit; may be empty
  std::string version;                                    ///< "NVRTC 13.0"
};

struct NvrtcSearch {
  std::optional<NvrtcInstallation> installation;
  Availability availability; ///< detail: version, library, headers
};

/// Searches $CUDA_HOME and $CUDA_PATH, the loader's path, /usr/local/cuda* and /opt/cuda. Loads the
/// library to ask for its version, then unloads it.
NvrtcSearch find_nvrtc();

struct NvrtcFunctions {
  RtcFunctions common;
  int (*version)(int* major, int* minor) = nullptr;
  int (*ptx_size)(RtcHandle program, std::size_t* bytes) = nullptr;
  int (*ptx)(RtcHandle program, char* text) = nullptr;
};

/// A loaded library. The destructor unloads it.
class NvrtcLibrary {
public:
  /// `builtins` may be empty. Throws Error when the library cannot be loaded or lacks a function.
  NvrtcLibrary(const std::filesystem::path& library, const std::filesystem::path& builtins);

  const NvrtcFunctions& functions() const { return functions_; }
  std::filesystem::path path() const; ///< where the loader found the library; a real path

private:
  struct Close {
    void operator()(void* handle) const;
  };
  std::unique_ptr<void, Close> builtins_;
  std::unique_ptr<void, Close> handle_;
  NvrtcFunctions functions_;
};

} // namespace winnow::evaluators
