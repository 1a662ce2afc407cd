#include "agents/sessions/agent_output.h"

#include "agents/json/json_text.h"
#include "base/text.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <nlohmann/json.hpp>

namespace winnow::agents {
namespace {

using nlohmann::json;
using Visit = std::function<void(const json&)>;

constexpr std::size_t kMostWords = std::size_t{1} << 20U; ///< of the last words, in bytes
constexpr std::size_t kMostErrors = std::size_t{16} << 10U;
constexpr double kMostTokens = 1e12;
constexpr double kMostDollars = 1e6;

void visit(const json& value, const std::string* step, const std::string* end,
           const Visit& visitor) {
  if (step == end) {
    visitor(value);
  } else if (*step == "*" && value.is_structured()) {
    for (const json& item : value) {
      visit(item, step + 1, end, visitor);
    }
  } else if (value.is_object() && value.contains(*step)) {
    visit(value.at(*step), step + 1, end, visitor);
  }
}

void visit(const json& value, const std::vector<std::string>& path, const Visit& visitor) {
  visit(value, path.data(), path.data() + path.size(), visitor);
}

bool fulfils(const json& value, const JsonPlace& place) {
  bool is_equal = place.condition.empty();
  visit(value, place.condition, [&](const json& found) {
    is_equal |= (found.is_string() ? found.get<std::string>() : found.dump()) == place.expected;
  });
  return is_equal;
}

void visit(const json& value, const std::vector<JsonPlace>& places, const Visit& visitor) {
  for (const JsonPlace& place : places) {
    if (fulfils(value, place)) {
      visit(value, place.path, visitor);
    }
  }
}

/// The sum of the numbers that make sense.
std::optional<double> sum(const json& value, const std::vector<JsonPlace>& places, double most) {
  std::optional<double> total;
  visit(value, places, [&](const json& found) {
    const double number = found.is_number() ? found.get<double>() : -1;
    if (number >= 0 && number <= most) {
      total = std::min(total.value_or(0) + number, most);
    }
  });
  return total;
}

void add_tokens(std::int64_t& tokens, const json& value, const std::vector<JsonPlace>& places) {
  const double more = sum(value, places, kMostTokens).value_or(0);
  tokens = std::min(tokens + std::llround(more), std::llround(kMostTokens));
}

void take_object(const AgentOutputForm& form, const json& object, AgentOutput& output) {
  const auto keep_last = [](std::string& text) {
    return [&text](const json& found) {
      if (found.is_string()) {
        text = found.get<std::string>().substr(0, kMostWords);
      }
    };
  };
  visit(object, form.text, keep_last(output.text));
  visit(object, form.session, keep_last(output.session));
  visit(object, form.errors, [&](const json& found) {
    if (found.is_string() && output.errors.size() < kMostErrors) {
      output.errors += found.get<std::string>().substr(0, kMostErrors) + "\n";
    }
  });
  visit(object, form.failed, [&](const json& found) { output.failed |= found == json(true); });
  visit(object, form.asks, [&](const json& /*found*/) { output.asked = true; });
  add_tokens(output.usage.prompt_tokens, object, form.prompt_tokens);
  add_tokens(output.usage.cached_tokens, object, form.cached_tokens);
  add_tokens(output.usage.cache_write_tokens, object, form.cache_write_tokens);
  add_tokens(output.usage.completion_tokens, object, form.completion_tokens);
  add_tokens(output.usage.reasoning_tokens, object, form.reasoning_tokens);
  if (const auto dollars = sum(object, form.dollars, kMostDollars)) {
    output.dollars = std::min(output.dollars.value_or(0) + *dollars, kMostDollars);
  }
}

/// Agents print lines of other programs before their JSON.
std::string_view from_first_object(std::string_view out) {
  std::size_t begin = out.starts_with('{') ? 0 : out.find("\n{");
  begin += begin != std::string_view::npos && begin != 0 ? 1 : 0;
  return begin == std::string_view::npos ? std::string_view() : out.substr(begin);
}

} // namespace

AgentOutput read_agent_output(const AgentOutputForm& form, std::string_view out) {
  AgentOutput output;
  switch (form.form) {
  case AgentOutputForm::Form::Text:
    output.text = to_valid_utf8(out.substr(out.size() - std::min(out.size(), kMostWords)));
    break;
  case AgentOutputForm::Form::Json:
    take_object(form, json_or_null(from_first_object(trim(out))), output);
    break;
  case AgentOutputForm::Form::JsonLines:
    for (const std::string_view line : split_lines(out)) {
      if (line.starts_with('{')) {
        take_object(form, json_or_null(line), output);
      }
    }
    break;
  }
  return output;
}

} // namespace winnow::agents
