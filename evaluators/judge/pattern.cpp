#include "evaluators/judge/pattern.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

std::vector<std::int64_t> coordinates(std::int64_t index, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> position(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    position[d] = index % shape[d];
    index /= shape[d];
  }
  return position;
}

std::string range_text(const char* name, std::int64_t low, std::int64_t high, std::int64_t extent) {
  if (low == 0 && high == extent - 1) {
    return fmt::format("every {}", name);
  }
  const char* last = high == extent - 1 ? " (the last)" : "";
  return low == high ? fmt::format("{} {}{}", name, low, last)
                     : fmt::format("{}s {} to {}{}", name, low, high, last);
}

std::string dimension_name(std::size_t dimension, std::size_t count) {
  if (count == 2) {
    return dimension == 0 ? "row" : "column";
  }
  return count == 1 ? "element" : fmt::format("index of axis {}", dimension);
}

// "every 32 elements from 31" when all gaps are equal and greater than one.
std::string stride_text(const std::vector<std::int64_t>& wrong) {
  if (wrong.size() < 3) {
    return {};
  }
  const std::int64_t gap = wrong[1] - wrong[0];
  for (std::size_t i = 1; i < wrong.size(); ++i) {
    if (wrong[i] - wrong[i - 1] != gap) {
      return {};
    }
  }
  return gap > 1 ? fmt::format("every {} elements from {}", gap, wrong[0]) : std::string();
}

} // namespace

std::string describe_pattern(const std::vector<std::int64_t>& wrong,
                             const std::vector<std::int64_t>& shape) {
  if (wrong.size() == 1) {
    return "only element " + position_text(wrong[0], shape);
  }
  std::vector<std::int64_t> low = coordinates(wrong.front(), shape);
  std::vector<std::int64_t> high = low;
  for (const std::int64_t index : wrong) {
    const auto position = coordinates(index, shape);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      low[d] = std::min(low[d], position[d]);
      high[d] = std::max(high[d], position[d]);
    }
  }
  std::int64_t box = 1;
  std::string text;
  for (std::size_t d = shape.size(); d-- > 0;) {
    box *= high[d] - low[d] + 1;
    text += (text.empty() ? "" : " of ") +
            range_text(dimension_name(d, shape.size()).c_str(), low[d], high[d], shape[d]);
  }
  if (box == static_cast<std::int64_t>(wrong.size())) {
    return text;
  }
  if (std::string stride = stride_text(wrong); !stride.empty()) {
    return stride;
  }
  std::int64_t all = 1;
  for (const std::int64_t extent : shape) {
    all *= extent;
  }
  return "scattered over " + (box == all ? "the whole tensor" : text);
}

std::string position_text(std::int64_t index, const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(coordinates(index, shape), ", "));
}

} // namespace winnow::evaluators
