#pragma once

#include "base/availability.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// An NVRTC of CUDA 12 or 13 with what it needs to compile, all as real paths.
struct NvrtcInstallation {
  std::filesystem::path library;
  std::filesystem::path builtins; ///< NVRTC loads it by name; empty: it has to find it itself
  std::vector<std::filesystem::path> include_directories; ///< of the toolkit; may be empty
  std::string version;                                    ///< "NVRTC 13.0"
};

struct NvrtcSearch {
  std::optional<NvrtcInstallation> installation;
  Availability availability; ///< detail: version, library, headers
};

/// Looks in $CUDA_HOME and $CUDA_PATH, where the loader looks, /usr/local/cuda* and /opt/cuda.
/// Loads the library, and unloads it, to ask for its version.
NvrtcSearch find_nvrtc();

/// A handle to a compilation, as NVRTC has it.
using NvrtcProgram = struct NvrtcProgramState*;

/// The functions of the library that are used, under NVRTC's names. Declared here, as they have not
/// changed since CUDA 8 and one program is to serve machines with and without the toolkit.
struct NvrtcFunctions {
  int (*version)(int* major, int* minor) = nullptr;
  const char* (*error_string)(int result) = nullptr;
  int (*create_program)(NvrtcProgram* program, const char* source, const char* name, int headers,
                        const char* const* header_texts, const char* const* header_names) = nullptr;
  int (*destroy_program)(NvrtcProgram* program) = nullptr;
  int (*add_name_expression)(NvrtcProgram program, const char* expression) = nullptr;
  int (*compile_program)(NvrtcProgram program, int count, const char* const* options) = nullptr;
  int (*lowered_name)(NvrtcProgram program, const char* expression, const char** name) = nullptr;
  int (*log_size)(NvrtcProgram program, std::size_t* bytes) = nullptr;
  int (*log)(NvrtcProgram program, char* text) = nullptr;
  int (*cubin_size)(NvrtcProgram program, std::size_t* bytes) = nullptr;
  int (*cubin)(NvrtcProgram program, char* image) = nullptr;
  int (*ptx_size)(NvrtcProgram program, std::size_t* bytes) = nullptr;
  int (*ptx)(NvrtcProgram program, char* text) = nullptr;
  // Null before CUDA 12.8, which brought precompiled headers.
  int (*set_pch_heap_size)(std::size_t bytes) = nullptr;
  int (*pch_create_status)(NvrtcProgram program) = nullptr;
};

/// First thing in a process that makes or uses a precompiled header: loads the libraries, in this
/// order, and lets no amount of memory that is asked for later move what is mapped after them.
/// Leaves errors to the NvrtcLibrary that follows.
void settle_addresses(const std::vector<std::string>& libraries);

/// A loaded library, unloaded with it.
class NvrtcLibrary {
public:
  /// `builtins` may be empty. Throws Error when it cannot be loaded or lacks a function.
  NvrtcLibrary(const std::filesystem::path& library, const std::filesystem::path& builtins);

  const NvrtcFunctions& functions() const { return functions_; }
  std::filesystem::path path() const; ///< where the loader found it; a real path
  std::uint64_t address() const;      ///< where the loader put it

private:
  struct Close {
    void operator()(void* handle) const;
  };
  std::unique_ptr<void, Close> builtins_;
  std::unique_ptr<void, Close> handle_;
  NvrtcFunctions functions_;
};

} // namespace winnow::evaluators
