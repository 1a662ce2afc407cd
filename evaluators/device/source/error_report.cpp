// Turns a compiler's errors into the report for the candidate's author.
#include "base/text.h"
#include "evaluators/device/source/compiler_messages.h"
#include "evaluators/device/source/kernel_names.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

constexpr std::size_t kMaxQuotedBytes = 160;

// The first line with the instruction that ends the message: "... in 'mov.f33 %f1, %f2;'".
int line_of_ptx(const std::string& message, std::string_view source) {
  constexpr std::string_view kIn = " in '";
  const std::size_t at = message.rfind(kIn);
  if (at == std::string::npos) {
    return 0;
  }
  const std::string_view instruction = std::string_view(message).substr(at + kIn.size());
  const std::string_view opcode = instruction.substr(0, instruction.find_first_of(" \t;'"));
  const std::size_t found = opcode.empty() ? std::string_view::npos : source.find(opcode);
  return found == std::string_view::npos
             ? 0
             : 1 + static_cast<int>(std::count(
                       source.begin(), source.begin() + static_cast<std::ptrdiff_t>(found), '\n'));
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

// True for messages from the headers behind the candidate's code. They appear when the name of a
// kernel does not stand for a kernel.
bool names_internals(std::string_view message) {
  return contains_any(message, {"winnow", "Winnow", "WINNOW", "<error-type>", "'Kernel'"});
}

bool stands_for_several(std::string_view message) {
  return contains_any(message, {"overloaded", "which instance of"});
}

// Line and column of a kernel in the source; 0 and 0: not found.
std::pair<int, int> place_of(const std::string& kernel, const SourceScan& scan) {
  const std::string name = kernel_base_name(kernel);
  const auto found = std::find_if(scan.kernels.begin(), scan.kernels.end(),
                                  [&](const auto& one) { return one.name == name; });
  return found != scan.kernels.end() ? std::pair(found->line, found->column) : std::pair(0, 0);
}

// The kernel that an error is about. nullptr: the error is about a constant, or the kernel is not
// known.
const std::string* kernel_of(const CompilerError& error, const ReportedSource& source) {
  const auto index = static_cast<std::size_t>(error.line) - 1;
  return error.line > 0 && index < source.kernels.size() ? &source.kernels[index] : nullptr;
}

std::string plan_message(const CompilerError& error, const ReportedSource& source) {
  const std::string* kernel = kernel_of(error, source);
  const auto [line, column] = kernel != nullptr ? place_of(*kernel, source.scan) : std::pair(0, 0);
  const std::string name = kernel != nullptr ? "kernel '" + *kernel + "'" : "a kernel of the plan";
  std::string what = "in a constant of the plan: " + error.message;
  if (stands_for_several(error.message)) {
    what = name + ": the name stands for several functions, or for a template that these arguments "
                  "do not fit: write NAME<{PARAMETER}> in the plan, or give the kernel a name of "
                  "its own";
  } else if (names_internals(error.message)) {
    what = name + " is not a __global__ function that returns void";
  } else if (kernel != nullptr) {
    what = "in the plan's " + name + ": " + error.message;
  } else if (error.line == 0) {
    what = "in the plan's kernel names: " + error.message;
  }
  return place_message(source.file, line, column, what, source.text);
}

std::string message_of(const CompilerError& error, const ReportedSource& source) {
  const std::string hint = error_hint(error, source.parameters);
  const std::string message = error.message + (hint.empty() ? "" : "; " + hint);
  if (error.in_plan) {
    return plan_message(error, source);
  }
  if (error.at_end) {
    return source.file + ": at the end of the source: " + message;
  }
  const int line = error.ptx ? line_of_ptx(error.message, source.text) : error.line;
  return place_message(source.file, line, error.column, message, source.text);
}

} // namespace

std::string place_message(const std::string& file, int line, int column, const std::string& message,
                          std::string_view source) {
  if (line <= 0) {
    return file + ": " + message;
  }
  const std::string at =
      column > 0 ? fmt::format("{}:{}:{}", file, line, column) : fmt::format("{}:{}", file, line);
  const std::vector<std::string_view> lines = split_lines(source);
  std::string out = at + ": " + message;
  if (static_cast<std::size_t>(line) <= lines.size()) {
    const std::string_view text = trim(lines[static_cast<std::size_t>(line) - 1]);
    out += fmt::format("\n  {} | {}", line,
                       to_valid_utf8(text.substr(0, std::min(text.size(), kMaxQuotedBytes))));
  }
  return out;
}

ErrorReport report_errors(const std::vector<CompilerError>& errors, const ReportedSource& source) {
  ErrorReport report;
  std::set<const std::string*> told; // kernels of the plan; nullptr: an unknown kernel
  for (const CompilerError& error : errors) {
    // Skip follow-up errors of an error in the plan or in one of its kernels.
    const std::string* kernel = error.in_plan ? kernel_of(error, source) : nullptr;
    const bool vague = error.in_plan && (kernel == nullptr || names_internals(error.message));
    if ((vague && !report.first.empty()) || (kernel != nullptr && !told.insert(kernel).second)) {
      continue;
    }
    const std::string text = message_of(error, source);
    report.first = report.first.empty() ? text : report.first;
    report.log += text + "\n";
  }
  report.log = truncate_text(report.log, kMaxLogBytes);
  if (const auto& host_code = source.scan.host_code; !report.first.empty() && !host_code.empty()) {
    report.first += fmt::format("\nThere is host code in line {} ('{}'): send device code and a "
                                "plan only; the harness allocates buffers and launches.",
                                host_code.front().line, host_code.front().what);
  }
  return report;
}

std::optional<ConstructHint> find_unsupported(const std::vector<CompilerError>& errors,
                                              const std::vector<ConstructHint>& hints) {
  for (const CompilerError& error : errors) {
    const std::size_t mark = error.message.find(kUnsupportedPrefix);
    if (mark != std::string::npos) {
      return ConstructHint{error.message.substr(mark + kUnsupportedPrefix.size()), error.line};
    }
  }
  if (!hints.empty()) {
    return hints.front();
  }
  return std::nullopt;
}

} // namespace winnow::evaluators
