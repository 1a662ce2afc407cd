#pragma once

#include "evaluators/device/source/source_scan.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// A compiler's complaint, at the candidate's own line.
struct CompilerError {
  int line = 0; ///< 0: not known; in_plan: which kernel or constant (entry_lines())
  int column = 0;
  std::string message;
  bool in_plan = false; ///< about a kernel name or a constant of the plan
  bool at_end = false;  ///< behind the candidate's last line: something was not closed
  bool ptx = false;     ///< about inline PTX; the message quotes it
};

/// The file name of errors in inline PTX: "winnow_ptx(12): error: ...".
constexpr const char* kPtxFile = "winnow_ptx";

/// Reads the errors of clang++, g++, hiprtc or NVRTC (with ptxas) out of `output`, first error
/// first. Errors inside the device headers and headers below `trusted` directories are placed at
/// the line that led there; those of any other file lose their text, as it may quote what no model
/// should see.
std::vector<CompilerError> parse_compiler_output(std::string_view output,
                                                 const std::vector<std::string>& trusted = {});

/// What to do about static shared arrays that are too large.
constexpr const char* kUseDynamicShared =
    "use dynamic shared memory (extern __shared__) and shared_bytes in the plan";

/// What to do about it, for the mistakes that models make most; empty for others.
std::string error_hint(const CompilerError& error,
                       const std::map<std::string, std::int64_t>& parameters);

struct ErrorReport {
  std::string first; ///< "softmax.cu:4:10: message; hint" and the line itself
  std::string log;   ///< all of them, at most kMaxLogBytes
};
constexpr std::size_t kMaxLogBytes = 4096;

/// A candidate as its author knows it.
struct ReportedSource {
  std::string file;
  std::string_view text; ///< whose lines are quoted
  std::map<std::string, std::int64_t> parameters;
  std::vector<std::string> kernels; ///< of the plan: "softmax<128>"
  const SourceScan& scan;
};

ErrorReport report_errors(const std::vector<CompilerError>& errors, const ReportedSource& source);

/// "file:4: message" with line 4 below it.
std::string place_message(const std::string& file, int line, int column, const std::string& message,
                          std::string_view source);

} // namespace winnow::evaluators
