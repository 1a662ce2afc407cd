#include "store/fields.h"

#include "base/text.h"
#include "tasks/json/json_text.h"

#include <algorithm>
#include <stdexcept>

namespace winnow::store {

using nlohmann::json;

void throw_no_form() {
  throw std::logic_error("a record has no column: the rules must leave it out");
}

bool has_word(std::string_view words, std::string_view word) {
  for (std::size_t at = words.find(word); at != std::string_view::npos;
       at = words.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) {
      return true;
    }
  }
  return false;
}

std::string end_of_interval(std::string_view field, std::string_view end) {
  constexpr std::string_view kBounds = "bounds";
  return std::string(field).replace(field.find(kBounds), kBounds.size(), end);
}

std::optional<double> end_of(const tasks::Bounds& bounds, double tasks::Bounds::*end) {
  const bool known = bounds.known() && std::isfinite(bounds.low) && std::isfinite(bounds.high);
  return known ? std::optional(bounds.*end) : std::nullopt;
}

std::string encode_samples(const std::vector<double>& samples) {
  json values = json::array();
  for (const double sample : samples) {
    values.push_back(tasks::number_json(sample));
  }
  return json_line(values);
}

std::vector<double> decode_samples(const std::string& text) {
  auto samples =
      each<double>(json::parse(text), [&](const json& value) { return tasks::number_of(value); });
  return samples;
}

std::string listed(const std::vector<std::string>& names, const std::string& before) {
  return before + join(names, ", " + before);
}

std::string assigned(const std::vector<std::string>& names) {
  return join(names, " = ?, ") + " = ?";
}

std::string insert_sql(const std::string& table, const std::string& keys, std::string values,
                       const std::vector<std::string>& names) {
  const std::string all = keys + (keys.empty() ? "" : ", ") + listed(names);
  auto unbound = static_cast<std::size_t>(std::count(all.begin(), all.end(), ',')) + 1;
  if (!values.empty()) {
    unbound = names.size();
    values += ", ";
  }
  values += listed(std::vector<std::string>(unbound, "?"));
  return "INSERT INTO " + table + " (" + all + ") VALUES (" + values + ")";
}

} // namespace winnow::store
