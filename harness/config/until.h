#pragma once

#include <string>

namespace winnow::harness {

/// When the search of a task has found enough: run.until, such as "vs_best > 1.1".
struct Until {
  enum class Metric { VersusBest, OfLight, Speedup };
  Metric metric = Metric::VersusBest;
  double least = 0; ///< the metric must be above it
};

/// Throws BadValue with what is expected, and where in the text it is not met.
Until parse_until(const std::string& text);
/// "vs_best", "of_light", "speedup".
std::string to_string(Until::Metric metric);

} // namespace winnow::harness
