#pragma once

#include "evaluators/device/gpu/compile/runtime_compiler.h"

#include <cstddef>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// The library's handle of a compilation.
using RtcHandle = struct RtcState*;

/// The functions that NVRTC and hiprtc have in common. They are declared here so that one program
/// serves machines with and without their headers. They have not changed since CUDA 8 and ROCm 4.
struct RtcFunctions {
  std::string prefix; ///< of the names of all functions: "nvrtc", "hiprtc"
  const char* (*error_string)(int result) = nullptr;
  int (*create_program)(RtcHandle* program, const char* source, const char* name, int headers,
                        const char* const* header_texts, const char* const* header_names) = nullptr;
  int (*destroy_program)(RtcHandle* program) = nullptr;
  int (*add_name_expression)(RtcHandle program, const char* expression) = nullptr;
  int (*compile_program)(RtcHandle program, int count, const char* const* options) = nullptr;
  int (*lowered_name)(RtcHandle program, const char* expression, const char** name) = nullptr;
  int (*log_size)(RtcHandle program, std::size_t* bytes) = nullptr;
  int (*log)(RtcHandle program, char* text) = nullptr;
  int (*image_size)(RtcHandle program, std::size_t* bytes) = nullptr;
  int (*image)(RtcHandle program, char* image) = nullptr;
};

/// Finds the functions in a loaded library. `image`: the name of the function that copies the
/// image. Returns the first missing function; empty if all were found.
std::string find_rtc_functions(void* library, const std::string& prefix, const std::string& image,
                               RtcFunctions& functions);

/// The -I options of a job.
std::vector<std::string> include_options(const RuntimeCompileJob& job);

/// A compilation in progress. The destructor destroys it. Every call throws Error, or
/// std::bad_alloc if the library is out of memory.
class RtcProgram {
public:
  using Size = int (*)(RtcHandle, std::size_t*);
  using Bytes = int (*)(RtcHandle, char*);

  RtcProgram(const RtcFunctions& functions, const RuntimeCompileJob& job);
  ~RtcProgram();
  RtcProgram(const RtcProgram&) = delete; // owns the program
  RtcProgram& operator=(const RtcProgram&) = delete;

  /// False when the source is wrong.
  bool compile(const std::vector<std::string>& options) const;
  std::string log() const { return text(functions_.log_size, functions_.log); }
  /// Empty if the library does not give the text.
  std::string text(Size size, Bytes get) const;
  /// Adds image and symbols of a compiled program.
  void read_image(const RuntimeCompileJob& job, RuntimeCompileOutput& output) const;

private:
  void check(int result, const char* call) const;

  const RtcFunctions& functions_;
  RtcHandle program_ = nullptr;
};

} // namespace winnow::evaluators
