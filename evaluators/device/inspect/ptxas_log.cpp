#include "evaluators/device/inspect/ptxas_log.h"

#include "base/text.h"
#include "evaluators/device/source/compiler_messages.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

constexpr std::size_t kMaxInstructionBytes = 120;
constexpr std::size_t kMaxAdvice = 4;
constexpr int kMaxCount = 1 << 30;

// The number directly before `unit`: "168 registers".
std::optional<int> number_before(std::string_view line, std::string_view unit) {
  const std::size_t at = line.find(unit);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  std::size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') {
    --begin;
  }
  int value = 0;
  const auto parsed = std::from_chars(line.data() + begin, line.data() + at, value);
  return parsed.ec == std::errc() && value < kMaxCount ? std::optional(value) : std::nullopt;
}

void read_number(std::string_view line, std::string_view unit, int& into) {
  into = number_before(line, unit).value_or(into);
}

// The text after `mark`, up to the character `end`.
std::optional<std::string> symbol_after(std::string_view line, std::string_view mark, char end) {
  const std::size_t at = line.find(mark);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = line.substr(at + mark.size());
  return std::string(trim(rest.substr(0, rest.find(end))));
}

// Parts of "ptxas application ptx input, line 58; error   : Unknown modifier '.f33'".
struct PtxError {
  std::size_t line = 0;
  std::string_view message;
};

std::optional<PtxError> read_ptx_error(std::string_view line) {
  constexpr std::string_view kMark = ", line ";
  const std::size_t at = line.find(kMark);
  const std::size_t error = line.find("; error", at);
  const std::size_t colon = line.find(": ", error);
  if (line.substr(0, 6) != "ptxas " || at == std::string_view::npos ||
      error == std::string_view::npos || colon == std::string_view::npos) {
    return std::nullopt;
  }
  PtxError result;
  const std::string_view digits = line.substr(at + kMark.size(), error - at - kMark.size());
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), result.line);
  result.message = trim(line.substr(colon + 2));
  return parsed.ec == std::errc() ? std::optional(result) : std::nullopt;
}

} // namespace

std::map<std::string, PtxasUsage> read_ptxas_usage(std::string_view log) {
  std::map<std::string, PtxasUsage> usage;
  PtxasUsage* current = nullptr;
  for (const std::string_view line : split_lines(log)) {
    if (line.substr(0, 5) != "ptxas") {
      continue;
    }
    if (const auto entry = symbol_after(line, "Compiling entry function '", '\'')) {
      current = &usage[*entry];
      *current = {};
    } else if (const auto function = symbol_after(line, "Function properties for ", '\n')) {
      const auto found = usage.find(*function);
      current = found == usage.end() ? nullptr : &found->second;
    } else if (current != nullptr) {
      read_number(line, " registers", current->registers);
      read_number(line, " bytes stack frame", current->stack_bytes);
      read_number(line, " bytes spill stores", current->spill_store_bytes);
      read_number(line, " bytes spill loads", current->spill_load_bytes);
      read_number(line, " bytes smem", current->shared_bytes);
    }
  }
  return usage;
}

std::vector<std::string> read_ptxas_advice(std::string_view log) {
  std::vector<std::string> advice;
  for (const std::string_view line : split_lines(log)) {
    const bool relevant = line.substr(0, 5) == "ptxas" &&
                          (line.find("warning") != std::string_view::npos ||
                           line.find("Potential Performance Loss") != std::string_view::npos);
    const std::size_t colon = line.find(": ");
    if (!relevant || colon == std::string_view::npos) {
      continue;
    }
    std::string text = to_valid_utf8(trim(line.substr(colon + 2)));
    if (advice.size() < kMaxAdvice &&
        std::find(advice.begin(), advice.end(), text) == advice.end()) {
      advice.push_back(std::move(text));
    }
  }
  return advice;
}

std::string name_ptx_lines(std::string_view log, std::string_view ptx) {
  const std::vector<std::string_view> instructions = split_lines(ptx);
  std::string out;
  for (const std::string_view line : split_lines(log)) {
    const auto error = read_ptx_error(line);
    if (!error || error->line == 0 || error->line > instructions.size()) {
      out += std::string(line) + "\n";
      continue;
    }
    const std::string_view instruction = trim(instructions[error->line - 1]);
    out += fmt::format("{}({}): error: {} in '{}'\n", kPtxFile, error->line, error->message,
                       instruction.substr(0, kMaxInstructionBytes));
  }
  return out;
}

} // namespace winnow::evaluators
