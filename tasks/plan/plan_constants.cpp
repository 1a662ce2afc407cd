#include "tasks/plan/plan_constants.h"

#include "base/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

constexpr std::size_t kMaxConstantBytes = 500;
constexpr std::size_t kMaxConstants = 64;

bool is_balanced(std::string_view text) {
  constexpr std::string_view kOpen = "([{";
  constexpr std::string_view kClose = ")]}";
  std::string expected;
  for (const char c : text) {
    if (const std::size_t kind = kOpen.find(c); kind != std::string_view::npos) {
      expected += kClose[kind];
    } else if (kClose.find(c) != std::string_view::npos) {
      if (expected.empty() || expected.back() != c) {
        return false;
      }
      expected.pop_back();
    }
  }
  return expected.empty();
}

void collect(const std::vector<LetBinding>& bindings, std::vector<const LetBinding*>& constants) {
  for (const LetBinding& binding : bindings) {
    if (!binding.device_constant.empty()) {
      constants.push_back(&binding);
    }
  }
}

} // namespace

std::optional<std::string> device_constant_mistake(std::string_view text) {
  if (text.empty()) {
    return "the device constant is empty";
  }
  if (text.size() > kMaxConstantBytes) {
    return fmt::format("the device constant has {} bytes, more than {}", text.size(),
                       kMaxConstantBytes);
  }
  const auto odd = std::find_if(text.begin(), text.end(), [](char c) {
    return c < ' ' || c > '~' || std::string_view("\"'\\;#`@$").find(c) != std::string_view::npos;
  });
  if (odd != text.end()) {
    return "the device constant has a character that is not allowed there";
  }
  if (text.find("/*") != std::string_view::npos || text.find("//") != std::string_view::npos) {
    return "the device constant has a comment";
  }
  if (!is_balanced(text)) {
    return "the brackets of the device constant do not match";
  }
  return std::nullopt;
}

std::string substituted(std::string_view device_constant, const ParameterChoice& choice) {
  return replace_placeholders(
      device_constant, [&](std::string_view name) -> std::optional<std::string> {
        const auto value = choice.find(std::string(name));
        return value == choice.end() ? std::nullopt : std::optional(std::to_string(value->second));
      });
}

std::vector<std::string> device_constants(const KernelFile& file, const ParameterChoice& choice,
                                          std::vector<Diagnostic>& errors) {
  std::vector<const LetBinding*> bindings;
  collect(file.plan.let, bindings);
  for (const auto* launches : {&file.plan.prepare, &file.plan.launches}) {
    each_launch(*launches, [&](const Launch& launch) {
      if (const auto* repeat = std::get_if<Repeat>(&launch.what)) {
        collect(repeat->let, bindings);
      }
    });
  }
  std::vector<std::string> constants;
  for (const LetBinding* binding : bindings) {
    std::string text = substituted(binding->device_constant, choice);
    if (!contains(constants, text)) {
      constants.push_back(std::move(text));
    }
  }
  if (constants.size() > kMaxConstants) {
    errors.push_back({file.file, bindings.front()->at,
                      fmt::format("the plan asks for {} device constants", constants.size()),
                      fmt::format("at most {}", kMaxConstants)});
  }
  return constants;
}

std::string
replace_placeholders(std::string_view text,
                     const std::function<std::optional<std::string>(std::string_view)>& replace) {
  std::string result;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    result += text.substr(0, open);
    if (open == std::string_view::npos) {
      break;
    }
    text.remove_prefix(open);
    const std::size_t close = text.find('}');
    const bool innermost = close != std::string_view::npos && text.find('{', 1) > close;
    const auto replacement =
        innermost ? replace(trim(text.substr(1, close - 1))) : std::optional<std::string>();
    result += replacement ? *replacement : "{";
    text.remove_prefix(replacement ? close + 1 : 1);
  }
  return result;
}

} // namespace winnow::tasks
