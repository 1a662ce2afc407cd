#include "evaluators/device/compile/compiler_messages.h"

#include "base/text.h"
#include "evaluators/device/compile/source_parts.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

constexpr std::size_t kMaxErrors = 8;
constexpr std::size_t kMaxMessageBytes = 500;
constexpr std::size_t kMaxQuotedBytes = 160;

struct Place {
  std::string_view file;
  int line = 0;
  int column = 0;
  std::string_view rest; ///< behind "file:line:column:"
};

std::optional<int> take_number(std::string_view& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || length == 0 || length >= text.size() || text[length] != ':') {
    return std::nullopt;
  }
  text.remove_prefix(length + 1);
  return value;
}

// "file:12:5: rest" or "file:12: rest".
std::optional<Place> parse_place(std::string_view line) {
  for (std::size_t colon = line.find(':'); colon != std::string_view::npos;
       colon = line.find(':', colon + 1)) {
    Place place{line.substr(0, colon), 0, 0, line.substr(colon + 1)};
    const auto number = take_number(place.rest);
    if (number) {
      place.line = *number;
      place.column = take_number(place.rest).value_or(0);
      place.rest = trim(place.rest);
      return place;
    }
  }
  return std::nullopt;
}

bool is_candidate(std::string_view file) {
  return file == kCandidateFile;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool is_device_header(std::string_view file) {
  return file.find("/headers-") != std::string_view::npos &&
         file.find("..") == std::string_view::npos;
}

std::optional<std::string_view> error_text(std::string_view rest) {
  for (const std::string_view severity : {"error: ", "fatal error: ", "sorry, unimplemented: "}) {
    if (rest.substr(0, severity.size()) == severity) {
      return rest.substr(severity.size());
    }
  }
  return std::nullopt;
}

// Without warning flags, the internal file names and what only a compiler's author needs.
std::string clean_message(std::string_view text) {
  std::string out(trim(text));
  if (out.size() > 3 && out.back() == ']') {
    const std::size_t flag = out.rfind(" [-");
    out.resize(flag == std::string::npos ? out.size() : flag);
  }
  for (const std::string_view prefix : {"#error \"", "\""}) {
    if (out.rfind(prefix, 0) == 0 && out.back() == '"') {
      out = out.substr(prefix.size(), out.size() - prefix.size() - 1);
    }
  }
  return truncate_text(to_valid_utf8(out), kMaxMessageBytes);
}

class OutputParser {
public:
  std::vector<CompilerError> run(std::string_view output) {
    for (const std::string_view line : split_lines(output)) {
      if (errors_.size() > kMaxErrors) {
        break;
      }
      read_line(line);
    }
    for (CompilerError& error : errors_) {
      error.message = clean_message(error.message);
    }
    errors_.resize(std::min(errors_.size(), kMaxErrors));
    return std::move(errors_);
  }

private:
  void read_line(std::string_view line) {
    const auto place = parse_place(line);
    if (!place) {
      return;
    }
    if (const auto text = error_text(place->rest)) {
      add_error(*place, *text);
    } else if (is_candidate(place->file)) {
      // g++ tells what led to an error before it, clang++ behind it.
      led_here_ = {place->line, place->column};
      if (!errors_.empty() && errors_.back().line == 0 && !errors_.back().at_end) {
        errors_.back().line = place->line;
        errors_.back().column = place->column;
      }
    }
  }

  void add_error(const Place& place, std::string_view text) {
    CompilerError error;
    error.message = std::string(text);
    if (is_candidate(place.file)) {
      error.line = place.line;
      error.column = place.column;
    } else if (place.file == kPlanFile) {
      error.in_plan = true;
    } else if (place.file == kModuleFile || ends_with(place.file, "/winnow_entry.h")) {
      error.at_end = true; // what stands behind the candidate's code
      error.message = "unexpected end of the source";
    } else if (is_device_header(place.file)) {
      error.line = led_here_.first;
      error.column = led_here_.second;
    } else {
      error.message = "an error in a file that is no part of the candidate";
    }
    led_here_ = {0, 0};
    const bool repeated = std::any_of(errors_.begin(), errors_.end(), [&](const auto& known) {
      return known.line == error.line && known.message == error.message;
    });
    if (!repeated) {
      errors_.push_back(std::move(error));
    }
  }

  std::vector<CompilerError> errors_;
  std::pair<int, int> led_here_{0, 0};
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string missing_header(std::string_view message) {
  static const std::map<std::string_view, std::string_view> kHeaders{
      {"'__half'", "cuda_fp16.h"},
      {"'half'", "cuda_fp16.h"},
      {"'half2'", "cuda_fp16.h"},
      {"'__half2'", "cuda_fp16.h"},
      {"'__nv_bfloat16'", "cuda_bf16.h"},
      {"'__nv_bfloat162'", "cuda_bf16.h"},
      {"'__float2half'", "cuda_fp16.h"},
      {"'__half2float'", "cuda_fp16.h"},
      {"'nvcuda'", "mma.h"},
      {"'cooperative_groups'", "cooperative_groups.h"},
      {"'__nv_fp8_e4m3'", "cuda_fp8.h"},
      {"'__bfloat162float'", "cuda_bf16.h"}};
  const bool unknown = contains(message, "unknown type name") || contains(message, "undeclared") ||
                       contains(message, "was not declared") || contains(message, "has not been") ||
                       contains(message, "does not name a type") ||
                       contains(message, "is not a namespace-name") ||
                       contains(message, "expected namespace name");
  for (const auto& [name, header] : kHeaders) {
    if (unknown && contains(message, name)) {
      return "add #include <" + std::string(header) + ">";
    }
  }
  return {};
}

std::string quoted_name(std::string_view message) {
  const std::size_t open = message.find('\'');
  const std::size_t close = message.find('\'', open == std::string_view::npos ? open : open + 1);
  if (close == std::string_view::npos) {
    return {};
  }
  std::string name(message.substr(open + 1, close - open - 1));
  return name.substr(name.find_last_of(" :") == std::string::npos ? 0
                                                                  : name.find_last_of(" :") + 1);
}

bool is_array_size_error(std::string_view message) {
  return contains(message, "variable length array") || contains(message, "variable-sized") ||
         contains(message, "array bound is not") ||
         contains(message, "is not an integral constant") || contains(message, "storage size of") ||
         contains(message, "not a constant expression") ||
         contains(message, "is not usable in a constant expression");
}

} // namespace

std::vector<CompilerError> parse_compiler_output(std::string_view output) {
  return OutputParser().run(output);
}

std::string error_hint(const CompilerError& error,
                       const std::map<std::string, std::int64_t>& parameters) {
  const std::string& message = error.message;
  const std::string name = quoted_name(message);
  if (contains(message, "'w'") && (contains(message, "uint3") || contains(message, "dim3"))) {
    return "threadIdx, blockIdx, blockDim and gridDim have only x, y and z";
  }
  if (is_array_size_error(message)) {
    return "the size of an array must be a constant: make it a parameter of the plan or a template "
           "argument";
  }
  const bool again = contains(message, "redefinition") || contains(message, "redeclared") ||
                     contains(message, "conflicting declaration") ||
                     contains(message, "redeclaration");
  for (const auto& [parameter, value] : parameters) {
    if (again && (name == parameter || contains(message, parameter + "'"))) {
      return "'" + parameter +
             "' is a parameter of the plan and visible to the code as a constant: "
             "remove this definition";
    }
  }
  if (error.at_end) {
    return "something that the source opens is not closed: look for a missing '}' or ';'";
  }
  if (contains(message, "undeclared identifier 'torch'") || contains(message, "'torch' was not") ||
      contains(message, "'at' has not been") || contains(message, "undeclared identifier 'at'")) {
    return "there is no host code and no PyTorch here: send device code and a plan";
  }
  return missing_header(message);
}

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

ErrorReport report_errors(const std::vector<CompilerError>& errors, const std::string& file,
                          std::string_view source,
                          const std::map<std::string, std::int64_t>& parameters) {
  ErrorReport report;
  for (const CompilerError& error : errors) {
    const std::string hint = error_hint(error, parameters);
    const std::string message = error.message + (hint.empty() ? "" : "; " + hint);
    std::string text;
    if (error.in_plan) {
      text = file + ": in the plan's kernel names: " + message;
    } else if (error.at_end) {
      text = file + ": at the end of the source: " + message;
    } else {
      text = place_message(file, error.line, error.column, message, source);
    }
    if (report.first.empty()) {
      report.first = text;
    }
    report.log += text + "\n";
  }
  report.log = truncate_text(report.log, kMaxLogBytes);
  return report;
}

} // namespace winnow::evaluators
