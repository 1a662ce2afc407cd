#include "harness/config/until.h"

#include "base/error.h"
#include "base/text.h"

#include <array>
#include <cmath>
#include <utility>

namespace winnow::harness {
namespace {

constexpr std::array<std::pair<const char*, Until::Metric>, 3> kMetrics{
    {{"vs_best", Until::Metric::VersusBest},
     {"of_light", Until::Metric::OfLight},
     {"speedup", Until::Metric::Speedup}}};

[[noreturn]] void refuse(const std::string& text) {
  throw UsageError("run.until = '" + text + "' is not of the form METRIC > NUMBER",
                   "write for instance \"vs_best > 1.1\"; a metric is vs_best, of_light (1: the "
                   "speed of light) or speedup");
}

} // namespace

Until parse_until(const std::string& text) {
  const std::size_t above = text.find('>');
  if (above == std::string::npos) {
    refuse(text);
  }
  const std::string name(trim(std::string_view(text).substr(0, above)));
  const auto least = whole_number<double>(trim(std::string_view(text).substr(above + 1)));
  if (!least || !std::isfinite(*least) || *least <= 0) {
    refuse(text);
  }
  for (const auto& [known, metric] : kMetrics) {
    if (name == known) {
      return {metric, *least};
    }
  }
  refuse(text);
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
