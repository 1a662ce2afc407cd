#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// What another process made of the headers that a source begins with: an image of the compiler's
/// memory, of use only where the compiler lies at the same address.
struct PrecompiledHeader {
  std::filesystem::path file;
  std::uint64_t library_address = 0;
};

/// One translation unit for a run-time compiler. `source` is complete: prelude, parameters, the
/// candidate's code behind a #line, and what reads signatures and constants back.
struct RuntimeCompileJob {
  std::string source;
  std::string file;                      ///< name in messages
  std::vector<std::string> instantiated; ///< name expressions: "softmax<128>"
  std::string architecture;              ///< "sm_90a", "gfx90a"
  bool fast_math = false;
  std::vector<std::string> include_directories;
  std::optional<PrecompiledHeader> precompiled; ///< used where it can be, with no other result
};

struct RuntimeCompileOutput {
  bool compiled = false;
  std::string log; ///< as the compiler wrote it, warnings and resource usage included
  std::vector<std::byte> image;
  std::map<std::string, std::string> symbols; ///< name expression to the image's symbol
  double compiler_ms = 0;                     ///< in the library's compile function
  bool used_precompiled = false;
};

/// A compiler library (NVRTC, hiprtc), found and loaded at run time. Used in the fenced
/// `_compile-gpu` child only: both read any file they can open, and hiprtc may abort the process.
class RuntimeCompiler {
public:
  virtual ~RuntimeCompiler() = default;
  /// Throws Error for what is not the source's fault.
  virtual RuntimeCompileOutput compile(const RuntimeCompileJob& job) = 0;
};

} // namespace winnow::evaluators
