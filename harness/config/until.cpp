#include "harness/config/until.h"

#include "base/text.h"
#include "harness/config/config_keys.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

constexpr std::array<std::pair<const char*, Until::Metric>, 3> kMetrics{
    {{"vs_best", Until::Metric::VersusBest},
     {"of_light", Until::Metric::OfLight},
     {"speedup", Until::Metric::Speedup}}};

[[noreturn]] void refuse(const std::string& why) {
  throw BadValue("METRIC > NUMBER, for instance \"vs_best > 1.1\"; a metric is vs_best, of_light "
                 "(below 1, the speed of light) or speedup; " +
                 why);
}

std::string in_quotes(std::string_view text) {
  return "'" + visible(text) + "'";
}

} // namespace

Until parse_until(const std::string& text) {
  const std::size_t above = text.find('>');
  if (above == std::string::npos) {
    refuse(in_quotes(text) + " has no '>'");
  }
  const std::string_view name = trim(std::string_view(text).substr(0, above));
  const auto* const known = std::find_if(kMetrics.begin(), kMetrics.end(),
                                         [&](const auto& metric) { return metric.first == name; });
  if (known == kMetrics.end()) {
    refuse("column 1: " + in_quotes(name) + " is no metric" +
           suggestion(name, {kMetrics[0].first, kMetrics[1].first, kMetrics[2].first}));
  }
  const std::string_view number = trim(std::string_view(text).substr(above + 1));
  const auto least = whole_number<double>(number);
  const bool fits = least && std::isfinite(*least) && *least > 0 &&
                    (known->second != Until::Metric::OfLight || *least < 1);
  if (!fits) {
    refuse(fmt::format("column {}: {} is not {}", above + 2, in_quotes(number),
                       known->second == Until::Metric::OfLight ? "a number between 0 and 1"
                                                               : "a positive number"));
  }
  return {known->second, *least};
}

std::string to_string(Until::Metric metric) {
  for (const auto& [name, known] : kMetrics) {
    if (known == metric) {
      return name;
    }
  }
  return "";
}

} // namespace winnow::harness
