#include "evaluators/judge/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::Verdict;

constexpr std::size_t kMaxRememberedIndices = 1U << 16U;
constexpr std::int64_t kElementsPerThread = std::int64_t{1} << 18; // fewer are not worth a thread

std::vector<std::int64_t> coordinates(std::int64_t index, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> position(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    position[d] = index % shape[d];
    index /= shape[d];
  }
  return position;
}

bool holds_poison(std::span<const std::byte> data, std::size_t offset, std::size_t size,
                  std::uint64_t poison) {
  std::byte pattern[8];
  std::memcpy(pattern, &poison, sizeof pattern);
  for (std::size_t i = 0; i < size; ++i) {
    if (data[offset + i] != pattern[(offset + i) % sizeof pattern]) {
      return false;
    }
  }
  return true;
}

// Difference over limit; above 1 is wrong.
double error_ratio(double got, double expected, double limit) {
  if (std::isnan(got) || std::isnan(expected)) {
    return std::isnan(got) && std::isnan(expected) ? 0 : std::numeric_limits<double>::infinity();
  }
  if (got == expected) {
    return 0;
  }
  if (std::isinf(got) || std::isinf(expected) || limit <= 0) {
    return std::numeric_limits<double>::infinity();
  }
  return std::fabs(got - expected) / limit;
}

// Collects wrong elements of one comparison.
class Tally {
public:
  explicit Tally(const Comparison& comparison) : comparison_(comparison) {}

  void add(std::int64_t index, double got, double expected, double limit, double ratio) {
    if (wrong_ == 0) {
      first_ = {index, got, expected, limit};
    }
    ++wrong_;
    const auto size = tasks::size_bytes(comparison_.dtype);
    const auto offset = static_cast<std::size_t>(index) * size;
    if (holds_poison(comparison_.got, offset, size, comparison_.poison)) {
      ++unwritten_;
      first_unwritten_ = first_unwritten_ < 0 ? index : first_unwritten_;
    }
    nan_ += std::isnan(got) ? 1 : 0;
    zero_ += got == 0 ? 1 : 0;
    worst_ratio_ = std::max(worst_ratio_, ratio);
    if (indices_.size() < kMaxRememberedIndices) {
      indices_.push_back(index);
    }
  }

  ComparisonResult result(std::int64_t total, double max_ratio) const {
    ComparisonResult result;
    result.max_error_ratio = max_ratio;
    if (wrong_ == 0) {
      return result;
    }
    tasks::Mismatch mismatch;
    mismatch.tensor = comparison_.tensor;
    mismatch.wrong = wrong_;
    mismatch.total = total;
    mismatch.first_index = first_.index;
    mismatch.first_position = position_text(first_.index, comparison_.shape);
    mismatch.got = first_.got;
    mismatch.expected = first_.expected;
    mismatch.limit = first_.limit;
    mismatch.worst_ratio = worst_ratio_;
    mismatch.pattern = pattern(total);
    result.verdict = unwritten_ > 0 ? Verdict::UnwrittenOutput : Verdict::Wrong;
    result.mismatch = mismatch;
    return result;
  }

private:
  struct First {
    std::int64_t index = -1;
    double got = 0, expected = 0, limit = 0;
  };

  std::string pattern(std::int64_t total) const {
    std::string text = wrong_ == total ? "every element"
                       : static_cast<std::int64_t>(indices_.size()) < wrong_
                           ? fmt::format("{} elements, spread out", wrong_)
                           : describe_pattern(indices_, comparison_.shape);
    if (unwritten_ > 0) {
      text += unwritten_ == wrong_
                  ? "; never written"
                  : fmt::format("; {} of them never written, first {}", unwritten_,
                                position_text(first_unwritten_, comparison_.shape));
    } else if (nan_ == wrong_) {
      text += "; all NaN (outputs and scratch hold NaN until they are written)";
    } else if (zero_ == wrong_) {
      text += "; all zero";
    }
    return text;
  }

  const Comparison& comparison_;
  First first_;
  std::int64_t wrong_ = 0, unwritten_ = 0, first_unwritten_ = -1, nan_ = 0, zero_ = 0;
  double worst_ratio_ = 0;
  std::vector<std::int64_t> indices_;
};

std::int64_t total_elements(const Comparison& comparison) {
  return static_cast<std::int64_t>(comparison.got.size() / tasks::size_bytes(comparison.dtype));
}

struct Element {
  double got = 0, expected = 0, limit = 0, ratio = 0;
};

Element element_at(const Comparison& comparison, std::int64_t index) {
  const auto at = static_cast<std::size_t>(index);
  const std::size_t size = tasks::size_bytes(comparison.dtype);
  Element element;
  element.got = tasks::load_element(comparison.dtype, comparison.got.data() + at * size);
  element.expected = comparison.expected[at];
  const double magnitude = comparison.magnitude.empty() ? std::fabs(element.expected)
                                                        : std::fabs(comparison.magnitude[at]);
  element.limit = comparison.relative_limit * magnitude + comparison.absolute_limit;
  element.ratio = error_ratio(element.got, element.expected, element.limit);
  return element;
}

// The largest ratio of all elements, on several cores.
double largest_ratio(const Comparison& comparison) {
  const std::int64_t total = total_elements(comparison);
  const std::int64_t parts = std::clamp<std::int64_t>(
      total / kElementsPerThread, 1, std::max(1U, std::thread::hardware_concurrency()));
  std::vector<double> largest(static_cast<std::size_t>(parts));
  const auto scan = [&](std::int64_t part) {
    double ratio = 0;
    for (std::int64_t i = total * part / parts; i < total * (part + 1) / parts; ++i) {
      ratio = std::max(ratio, element_at(comparison, i).ratio);
    }
    largest[static_cast<std::size_t>(part)] = ratio;
  };
  std::vector<std::jthread> threads;
  for (std::int64_t part = 1; part < parts; ++part) {
    threads.emplace_back(scan, part);
  }
  scan(0);
  threads.clear();
  return *std::max_element(largest.begin(), largest.end());
}

ComparisonResult compare_floating(const Comparison& comparison) {
  const std::int64_t total = total_elements(comparison);
  const double max_ratio = largest_ratio(comparison);
  Tally tally(comparison);
  for (std::int64_t i = 0; max_ratio > 1 && i < total; ++i) {
    const Element element = element_at(comparison, i);
    if (element.ratio > 1) {
      tally.add(i, element.got, element.expected, element.limit, element.ratio);
    }
  }
  return tally.result(total, max_ratio);
}

ComparisonResult compare_exact(const Comparison& comparison) {
  const std::int64_t total = total_elements(comparison);
  const std::size_t size = tasks::size_bytes(comparison.dtype);
  Tally tally(comparison);
  const double infinite = std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < total; ++i) {
    const std::size_t offset = static_cast<std::size_t>(i) * size;
    const std::byte* got = comparison.got.data() + offset;
    const std::byte* expected = comparison.expected_exact.data() + offset;
    if (std::memcmp(got, expected, size) != 0) {
      tally.add(i, tasks::load_element(comparison.dtype, got),
                tasks::load_element(comparison.dtype, expected), 0, infinite);
    }
  }
  const ComparisonResult result = tally.result(total, 0);
  return result.mismatch ? tally.result(total, infinite) : result;
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

// "every 32 elements from 31" when the gaps are all equal and above one.
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

ComparisonResult compare(const Comparison& comparison) {
  return tasks::is_floating(comparison.dtype) ? compare_floating(comparison)
                                              : compare_exact(comparison);
}

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
  return fmt::format("{} elements within {}", wrong.size(), text);
}

std::string position_text(std::int64_t index, const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(coordinates(index, shape), ", "));
}

} // namespace winnow::evaluators
