#pragma once

#include "evaluators/device/source/source_scan.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// An error message of a compiler, at the candidate's own line.
struct CompilerError {
  /// 0: not known. With in_plan: the number of the kernel or constant (entry_lines()).
  int line = 0;
  int column = 0;
  std::string message;
  bool in_plan = false;    ///< about a kernel name or a constant in the plan
  bool at_end = false;     ///< behind the candidate's last line, so something was not closed
  bool ptx = false;        ///< about inline PTX, which the message quotes
  bool has_reason = false; ///< the message ends with what makes an expression no constant
};

/// The file name in errors about inline PTX: "winnow_ptx(12): error: ...".
constexpr const char* kPtxFile = "winnow_ptx";

/// Parses the errors of clang++, g++, hiprtc or NVRTC (with ptxas) in `output`, first error first.
/// An error inside the device headers, or inside headers below the `trusted` directories, is placed
/// at the candidate's line that led to it. An error in any other file loses its text, because the
/// text may quote something that no model should see.
std::vector<CompilerError> parse_compiler_output(std::string_view output,
                                                 const std::vector<std::string>& trusted = {});

/// The remedy for static shared arrays that are too large.
constexpr const char* kUseDynamicShared =
    "use dynamic shared memory (extern __shared__) and shared_bytes in the plan";

/// The remedy for the most frequent mistakes of models; empty for other errors.
std::string error_hint(const CompilerError& error,
                       const std::map<std::string, std::int64_t>& parameters);

struct ErrorReport {
  std::string first; ///< "softmax.cu:4:10: message; hint" and the line itself
  std::string log;   ///< all errors, at most kMaxLogBytes
};
constexpr std::size_t kMaxLogBytes = 4096;

/// A candidate's source as its author knows it.
struct ReportedSource {
  std::string file;
  std::string_view text; ///< the lines that messages quote
  std::map<std::string, std::int64_t> parameters;
  std::vector<std::string> kernels; ///< names in the plan: "softmax<128>"
  const SourceScan& scan;
};

ErrorReport report_errors(const std::vector<CompilerError>& errors, const ReportedSource& source);

/// "file:4: message", then the text of line 4.
std::string place_message(const std::string& file, int line, int column, const std::string& message,
                          std::string_view source);

/// Prefix of the error that Winnow's device headers raise for a construct that the device lacks.
constexpr std::string_view kUnsupportedPrefix = "winnow-unsupported: ";

/// Finds a construct that explains a failed compile better than the compiler's message: one that
/// Winnow's headers refused, else one from `hints`. A scan finds what the CPU device lacks; for
/// other devices, pass only hints that apply to them.
std::optional<ConstructHint> find_unsupported(const std::vector<CompilerError>& errors,
                                              const std::vector<ConstructHint>& hints);

} // namespace winnow::evaluators
