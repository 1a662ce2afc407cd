#include "lab/published_statistics.h"

#include "base/text/toml_reader.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace winnow::lab {
namespace {

/// The error is given, or it follows from the number of trials of a share.
double error_of(const TomlReader& table, double value) {
  if (table.has("error") == table.has("count")) {
    table.fail({}, "a statistic needs `error` or `count`, and not both",
               "error, the standard error; or count, the number of trials of a share");
  }
  if (table.has("error")) {
    const double error = table.number("error");
    if (error <= 0) {
      table.fail("error", fmt::format("'error' is {:g}", error), "a number above 0");
    }
    return error;
  }
  const double count = table.number("count");
  if (count < 1 || value < 0 || value > 1) {
    table.fail("count", fmt::format("{:g} trials have no share of {:g}", count, value),
               "a count of at least 1, and a value from 0 to 1");
  }
  return std::sqrt(std::max(value * (1 - value), 1 / std::max(count, 2.0)) / count);
}

} // namespace

const std::vector<std::string>& statistic_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"correct", "not compiled", "wrong", "regressed"};
    for (std::size_t i = 1; i <= kIndexedCalls; ++i) {
      all.push_back(fmt::format("hit {}", i));
    }
    all.emplace_back("hit later");
    for (const std::size_t calls : kGainAfter) {
      all.push_back(fmt::format("gain after {}", calls));
    }
    all.insert(all.end(), {"top gains", "best of 3 first calls", "final", "spread of finals"});
    return all;
  }();
  return names;
}

PublishedStatistics parse_statistics(std::string_view text, const std::string& file) {
  constexpr std::int64_t kMostCallsOfASearch = 1000;
  const TomlReader root = TomlReader::parse(text, file);
  root.allow_keys({"name", "source", "calls_per_search", "statistics"});
  PublishedStatistics published;
  published.name = root.string("name");
  published.source = root.string("source");
  const std::int64_t calls = root.integer("calls_per_search");
  if (calls < 1 || calls > kMostCallsOfASearch) {
    root.fail("calls_per_search", fmt::format("'calls_per_search' is {}", calls),
              fmt::format("a number from 1 to {}", kMostCallsOfASearch));
  }
  published.calls_per_search = static_cast<std::size_t>(calls);
  for (const TomlReader& table : root.tables("statistics")) {
    table.allow_keys({"name", "value", "error", "count"});
    const std::string name = table.string("name");
    const std::vector<std::string>& known = statistic_names();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      table.fail_unknown("name", "statistic", name, known);
    }
    const double value = table.number("value");
    published.statistics.push_back({name, value, error_of(table, value)});
  }
  return published;
}

} // namespace winnow::lab
