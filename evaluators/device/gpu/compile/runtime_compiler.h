#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::evaluators {

/// One translation unit for a run-time compiler. `source` is complete: prelude, parameters, the
/// candidate's code after a #line, and the symbols from which signatures and constants are read.
struct RuntimeCompileJob {
  std::string source;
  std::string file;                      ///< name in messages
  std::vector<std::string> instantiated; ///< name expressions: "softmax<128>"
  std::string architecture;              ///< "sm_90a", "gfx90a"
  bool fast_math = false;
  std::vector<std::string> include_directories;
};

struct RuntimeCompileOutput {
  bool compiled = false;
  std::string log; ///< the compiler's output, with warnings and resource usage
  std::vector<std::byte> image;
  std::map<std::string, std::string> symbols; ///< from name expression to the image's symbol
  std::string ptx;        ///< NVIDIA: the program before it became machine code; else empty
  double compiler_ms = 0; ///< time in the library's compile function
};

/// A compiler library (NVRTC, hiprtc), found and loaded at run time. Use it only in the fenced
/// `_compile-gpu` child: both libraries read any file that they can open, and hiprtc may abort the
/// process.
class RuntimeCompiler {
public:
  virtual ~RuntimeCompiler() = default;
  /// Throws Error for errors that are not the source's fault.
  virtual RuntimeCompileOutput compile(const RuntimeCompileJob& job) = 0;
};

/// A run-time compiler that the coordinator found, described for the child that uses it.
struct GpuToolchain {
  std::string kind;    ///< GpuVendor::kind
  std::string version; ///< "NVRTC 13.0"
  std::string prelude; ///< Winnow's header that goes first
  std::filesystem::path library;
  std::filesystem::path builtins; ///< the library loads this file by name; may be empty
  std::vector<std::filesystem::path> include_directories; ///< the vendor's headers
  std::vector<std::filesystem::path> readable; ///< further files that the child must open
};

/// For cache keys.
void to_json(nlohmann::json& json, const GpuToolchain& toolchain);

} // namespace winnow::evaluators
