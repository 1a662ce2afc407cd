#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

struct SourceScan;

/// A compiler's complaint, at the candidate's own line.
struct CompilerError {
  int line = 0; ///< 0: not known
  int column = 0;
  std::string message;
  bool in_plan = false; ///< about a kernel name of the plan
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

/// `source` is the candidate's own text, whose lines are quoted.
ErrorReport report_errors(const std::vector<CompilerError>& errors, const std::string& file,
                          std::string_view source,
                          const std::map<std::string, std::int64_t>& parameters);

/// "file:4: message" with line 4 below it.
std::string place_message(const std::string& file, int line, int column, const std::string& message,
                          std::string_view source);

} // namespace winnow::evaluators
