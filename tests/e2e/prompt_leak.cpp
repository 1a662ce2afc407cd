#include "tests/e2e/prompt_leak.h"

#include "base/text.h"

#include <cctype>
#include <regex>

#include <fmt/format.h>

namespace winnow::test {
namespace {

constexpr std::int64_t kTellingExtent = 100; // smaller numbers occur in prompts for other reasons

void add_numbers(const tasks::Task& task, const tasks::Shape& shape,
                 std::set<std::string>& numbers) {
  for (const auto& [name, value] : shape.axes) {
    if (value >= kTellingExtent) {
      numbers.insert(std::to_string(value));
    }
  }
  for (const tasks::TensorSpec& tensor : task.tensors) {
    if (const std::int64_t count = element_count(tensor, shape); count >= kTellingExtent) {
      numbers.insert(std::to_string(count));
    }
  }
  for (const tasks::ScalarSpec& scalar : task.scalars) {
    if (tasks::is_floating(scalar.dtype)) {
      numbers.insert(fmt::format("{:.6g}", shape.scalars.at(scalar.name)));
    }
  }
}

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// A full stop is part of a number only if a digit follows.
bool goes_on(std::string_view text, std::size_t at) {
  if (at >= text.size()) {
    return false;
  }
  const bool decimal = text[at] == '.' && at + 1 < text.size() &&
                       std::isdigit(static_cast<unsigned char>(text[at + 1])) != 0;
  return decimal || is_word_character(text[at]);
}

} // namespace

std::set<std::string> hidden_words(const tasks::Task& task) {
  std::set<std::string> shown, hidden;
  for (const tasks::Shape& shape : task.shapes) {
    add_numbers(task, shape, tasks::is_hidden(shape.set) ? hidden : shown);
  }
  for (const std::string& number : shown) {
    hidden.erase(number);
  }
  for (const tasks::Shape& shape : task.shapes) {
    if (tasks::is_hidden(shape.set)) {
      hidden.insert(to_string(shape));
      hidden.insert(shape.id);
    }
  }
  return hidden;
}

std::string outside_code(std::string_view text) {
  std::string outside;
  bool in_code = false;
  for (const std::string_view line : split_lines(text)) {
    const bool fence = line.starts_with("```");
    in_code = fence ? !in_code : in_code;
    outside += in_code || fence ? "" : std::string(line) + "\n";
  }
  return outside;
}

std::string without_measurements(std::string_view text) {
  static const std::regex measurement(
      R"(\b[0-9]+(\.[0-9]+)?( ([numk]?s|[kMGT]?B)\b| %|x\b)|\b[0-9.e+]+ -> [0-9.e+]+)");
  return std::regex_replace(std::string(text), measurement, "_");
}

std::vector<std::string> words_in(std::string_view text, const std::set<std::string>& words) {
  std::vector<std::string> found;
  for (const std::string& word : words) {
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
      const bool starts = at == 0 || (!is_word_character(text[at - 1]) && text[at - 1] != '.');
      if (starts && !goes_on(text, at + word.size())) {
        found.push_back(word);
        break;
      }
    }
  }
  return found;
}

} // namespace winnow::test
