#include "evaluators/device/source/compiler_messages.h"

#include "base/text.h"
#include "evaluators/device/source/source_parts.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

constexpr std::size_t kMaxErrors = 8;
constexpr std::size_t kMaxMessageBytes = 500;

struct Place {
  std::string_view file;
  int line = 0;
  int column = 0;
  std::string_view rest; ///< the text after "file:line:column:"
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

// Parses "file(12): rest", the format of NVRTC.
std::optional<Place> parse_bracketed_place(std::string_view line) {
  const std::size_t close = line.find("): ");
  const std::size_t open = line.substr(0, close).rfind('(');
  if (close == std::string_view::npos || open == std::string_view::npos) {
    return std::nullopt;
  }
  Place place{line.substr(0, open), 0, 0, trim(line.substr(close + 2))};
  const std::string_view digits = line.substr(open + 1, close - open - 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), place.line);
  const bool number = error == std::errc() && end == digits.data() + digits.size();
  return number && place.line >= 0 ? std::optional(place) : std::nullopt;
}

// Parses "file:12:5: rest" or "file:12: rest".
std::optional<Place> parse_place(std::string_view line) {
  if (const auto place = parse_bracketed_place(line)) {
    return place;
  }
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

// NVRTC's internal file for the plan's kernel names.
constexpr std::string_view kNvrtcNames = "__nv_name_map";
constexpr std::string_view kPtxasError = "ptxas error", kPtxasFatal = "ptxas fatal";
// Follows the error that says why.
constexpr std::string_view kPtxasAborted = "Ptx assembly aborted";

std::optional<std::string_view> error_text(std::string_view rest) {
  for (const std::string_view severity :
       {"error: ", "fatal error: ", "catastrophic error: ", "sorry, unimplemented: "}) {
    if (rest.substr(0, severity.size()) == severity) {
      return rest.substr(severity.size());
    }
  }
  const std::size_t colon = rest.find(": ");
  const bool numbered = rest.substr(0, 7) == "error #" && colon != std::string_view::npos;
  return numbered ? std::optional(rest.substr(colon + 2)) : std::nullopt;
}

// Removes warning flags, internal file names, and details that only the compiler's authors need.
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

// The line number in "... at line 12 of winnow_candidate.cu". With these words NVRTC names the line
// that led to an error.
std::optional<int> led_from(std::string_view line) {
  const std::string end = std::string(" of ") + kCandidateFile;
  constexpr std::string_view kAt = " at line ";
  const std::size_t at = line.rfind(kAt);
  if (!ends_with(line, end) || at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view digits = line.substr(at + kAt.size());
  int value = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return parsed.ec == std::errc() && value > 0 ? std::optional(value) : std::nullopt;
}

class OutputParser {
public:
  explicit OutputParser(const std::vector<std::string>& trusted) : trusted_(trusted) {}

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
    if (line.starts_with(kPtxasError) || line.starts_with(kPtxasFatal)) {
      add_ptxas_error(line);
      return;
    }
    if (const auto from = led_from(line)) {
      if (!errors_.empty() && errors_.back().line == 0 && !errors_.back().at_end) {
        errors_.back().line = *from;
      }
      return;
    }
    const auto place = parse_place(line);
    if (!place) {
      return;
    }
    if (const auto text = error_text(place->rest)) {
      add_error(*place, *text);
    } else if (is_candidate(place->file)) {
      add_reason(*place);
      // g++ prints the line that led to an error before the error, clang++ after it.
      led_here_ = {place->line, place->column};
      if (!errors_.empty() && errors_.back().line == 0 && !errors_.back().at_end) {
        errors_.back().line = place->line;
        errors_.back().column = place->column;
      }
    }
  }

  /// The first note behind an error about a constant says what makes it none.
  void add_reason(const Place& note) {
    constexpr std::string_view kNote = "note";
    const std::size_t colon = note.rest.find(": ");
    if (errors_.empty() || !note.rest.starts_with(kNote) || colon == std::string_view::npos) {
      return;
    }
    CompilerError& error = errors_.back();
    if (error.line > 0 && !error.has_reason &&
        error.message.find("constant") != std::string::npos) {
      error.has_reason = true;
      error.message += fmt::format(" (line {}: {})", note.line, trim(note.rest.substr(colon + 2)));
    }
  }

  void add_ptxas_error(std::string_view line) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) {
      return;
    }
    const std::string_view message = trim(line.substr(colon + 2));
    if (!message.starts_with(kPtxasAborted)) {
      add({0, 0, std::string(message)});
    }
  }

  bool is_trusted(std::string_view file) const {
    return is_device_header(file) ||
           (file.find("..") == std::string_view::npos &&
            std::any_of(trusted_.begin(), trusted_.end(), [&](const std::string& directory) {
              return file.substr(0, directory.size() + 1) == directory + "/";
            }));
  }

  void add_error(const Place& place, std::string_view text) {
    CompilerError error;
    error.message = std::string(text);
    if (is_candidate(place.file)) {
      error.line = place.line;
      error.column = place.column;
    } else if (place.file == kPlanFile || place.file == kNvrtcNames) {
      error.in_plan = true;
      error.line = place.file == kPlanFile ? place.line : 0;
    } else if (place.file == kModuleFile || ends_with(place.file, "/winnow_entry.h")) {
      error.at_end = true; // in the text after the candidate's code
      error.message = "unexpected end of the source";
    } else if (place.file == kPtxFile) {
      error.ptx = true;
    } else if (is_trusted(place.file)) {
      error.line = led_here_.first;
      error.column = led_here_.second;
    } else {
      error.message = "an error in a file that is not part of the candidate";
    }
    led_here_ = {0, 0};
    add(std::move(error));
  }

  void add(CompilerError error) {
    const bool repeated = std::any_of(errors_.begin(), errors_.end(), [&](const auto& known) {
      return known.line == error.line && known.message == error.message;
    });
    if (!repeated) {
      errors_.push_back(std::move(error));
    }
  }

  const std::vector<std::string>& trusted_;
  std::vector<CompilerError> errors_;
  std::pair<int, int> led_here_{0, 0};
};

} // namespace

std::vector<CompilerError> parse_compiler_output(std::string_view output,
                                                 const std::vector<std::string>& trusted) {
  return OutputParser(trusted).run(output);
}

} // namespace winnow::evaluators
