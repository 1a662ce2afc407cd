#include "evaluators/judge/compare.h"

#include "evaluators/judge/pattern.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::Verdict;

constexpr std::size_t kMaxRememberedIndices = 1U << 16U;
// With fewer elements a thread does not pay off.
constexpr std::int64_t kElementsPerThread = std::int64_t{1} << 18;

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

// Collects the wrong elements of one comparison.
class Tally {
public:
  explicit Tally(const Comparison& comparison) : comparison_(&comparison) {}

  void add(std::int64_t index, double got, double expected, double limit, double ratio) {
    if (wrong_ == 0) {
      first_ = {index, got, expected, limit};
    }
    ++wrong_;
    const auto size = tasks::size_bytes(comparison_->dtype);
    const auto offset = static_cast<std::size_t>(index) * size;
    if (holds_poison(comparison_->got, offset, size, comparison_->poison)) {
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

  // Adds the wrong elements of a later part of the same comparison.
  void add(const Tally& later) {
    first_ = wrong_ == 0 ? later.first_ : first_;
    first_unwritten_ = first_unwritten_ < 0 ? later.first_unwritten_ : first_unwritten_;
    wrong_ += later.wrong_;
    unwritten_ += later.unwritten_;
    nan_ += later.nan_;
    zero_ += later.zero_;
    worst_ratio_ = std::max(worst_ratio_, later.worst_ratio_);
    const std::size_t room = kMaxRememberedIndices - indices_.size();
    const auto kept = static_cast<std::ptrdiff_t>(std::min(room, later.indices_.size()));
    indices_.insert(indices_.end(), later.indices_.begin(), later.indices_.begin() + kept);
  }

  // The element to show when no single element is wrong.
  void add_within(std::int64_t index, double got, double expected, double limit) {
    first_ = {index, got, expected, limit};
  }

  ComparisonResult result(std::int64_t total, const ErrorRatios& ratios) const {
    ComparisonResult result;
    result.ratios = ratios;
    if (first_.index < 0) {
      return result;
    }
    tasks::Mismatch mismatch;
    mismatch.tensor = comparison_->tensor;
    mismatch.wrong = wrong_;
    mismatch.total = total;
    mismatch.first_index = first_.index;
    mismatch.first_position = position_text(first_.index, comparison_->shape);
    mismatch.got = first_.got;
    mismatch.expected = first_.expected;
    mismatch.limit = first_.limit;
    mismatch.worst_ratio = worst_ratio_;
    mismatch.pattern = wrong_ > 0 ? pattern(total) : std::string();
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
                           : describe_pattern(indices_, comparison_->shape);
    if (unwritten_ > 0) {
      text += unwritten_ == wrong_
                  ? "; never written"
                  : fmt::format("; {} of them never written, first {}", unwritten_,
                                position_text(first_unwritten_, comparison_->shape));
    } else if (nan_ == wrong_) {
      text += "; all NaN (outputs and scratch hold NaN until they are written)";
    } else if (zero_ == wrong_) {
      text += "; all zero";
    }
    return text;
  }

  const Comparison* comparison_;
  First first_;
  std::int64_t wrong_ = 0, unwritten_ = 0, first_unwritten_ = -1, nan_ = 0, zero_ = 0;
  double worst_ratio_ = 0;
  std::vector<std::int64_t> indices_;
};

std::int64_t total_elements(const Comparison& comparison) {
  return static_cast<std::int64_t>(comparison.got.size() / tasks::size_bytes(comparison.dtype));
}

struct Element {
  double got = 0, expected = 0;
  ElementError error;
};

Element element_at(const Comparison& comparison, const ErrorLimits& limits, std::int64_t index) {
  const auto at = static_cast<std::size_t>(index);
  const std::size_t size = tasks::size_bytes(comparison.dtype);
  Element element;
  element.got = tasks::load_element(comparison.dtype, comparison.got.data() + at * size);
  element.expected = comparison.expected[at];
  const double magnitude =
      comparison.magnitude.empty() ? element.expected : comparison.magnitude[at];
  element.error = error_of(element.got, element.expected, magnitude, limits);
  return element;
}

// Makes a Part from each part of [0, total) on several cores, and returns the Parts in order.
template <class Part, class Scan>
std::vector<Part> scan_parts(std::int64_t total, const Part& empty, const Scan& scan) {
  const std::int64_t parts = std::clamp<std::int64_t>(
      total / kElementsPerThread, 1, std::max(1U, std::thread::hardware_concurrency()));
  std::vector<Part> found(static_cast<std::size_t>(parts), empty);
  const auto scan_one = [&](std::int64_t part) {
    Part mine = empty; // neighbours in `found` share cache lines
    scan(mine, total * part / parts, total * (part + 1) / parts);
    found[static_cast<std::size_t>(part)] = std::move(mine);
  };
  std::vector<std::jthread> threads;
  for (std::int64_t part = 1; part < parts; ++part) {
    threads.emplace_back(scan_one, part);
  }
  scan_one(0);
  threads.clear();
  return found;
}

/// Adds what element_at() says about the elements [first, end), but reads them a block at a time.
void add_errors(ErrorTotals& totals, const Comparison& comparison, const ErrorLimits& limits,
                std::size_t first, std::size_t end) {
  const std::size_t size = tasks::size_bytes(comparison.dtype);
  const std::span<const double> magnitude =
      comparison.magnitude.empty() ? comparison.expected : comparison.magnitude;
  std::array<double, tasks::kElementsAtOnce> got{};
  for (std::size_t count = 0; first < end; first += count) {
    count = std::min(tasks::kElementsAtOnce, end - first);
    tasks::convert_elements(comparison.dtype, comparison.got.data() + first * size,
                            tasks::DType::F64, std::as_writable_bytes(std::span(got)).data(),
                            count);
    for (std::size_t i = 0; i < count; ++i) {
      totals.add(error_of(got[i], comparison.expected[first + i], magnitude[first + i], limits));
    }
  }
}

ErrorTotals totals_of(const Comparison& comparison, const ErrorLimits& limits) {
  const auto parts =
      scan_parts(total_elements(comparison), ErrorTotals{},
                 [&](ErrorTotals& totals, std::int64_t first, std::int64_t end) {
                   add_errors(totals, comparison, limits, static_cast<std::size_t>(first),
                              static_cast<std::size_t>(end));
                 });
  ErrorTotals totals;
  for (const ErrorTotals& part : parts) {
    totals.add(part);
  }
  return totals;
}

double rms(const ErrorTotals& totals) {
  return totals.counted == 0 ? 0
                             : std::sqrt(totals.square_sum / static_cast<double>(totals.counted));
}

// Describes the errors of an output that is wrong.
struct Survey {
  std::int64_t off = 0;   ///< elements whose error alone is above the limit of the rms
  std::int64_t zeros = 0; ///< those of them that are 0
  double max_units = 0;
  double difference_squares = 0, expected_squares = 0;
  Element worst; ///< element with the largest error; its index follows
  std::int64_t worst_index = 0;

  void add(std::int64_t index, const Element& element, const ErrorLimits& limits) {
    if (element.error.units > limits.norm_multiple) {
      ++off;
      zeros += element.got == 0 ? 1 : 0;
    }
    max_units = std::max(max_units, element.error.units);
    const double difference = element.got - element.expected;
    difference_squares += difference * difference;
    expected_squares += element.expected * element.expected;
    if (element.error.units > worst.error.units) {
      worst = element;
      worst_index = index;
    }
  }

  void add(const Survey& later) {
    off += later.off;
    zeros += later.zeros;
    max_units = std::max(max_units, later.max_units);
    difference_squares += later.difference_squares;
    expected_squares += later.expected_squares;
    if (later.worst.error.units > worst.error.units) {
      worst = later.worst;
      worst_index = later.worst_index;
    }
  }
};

// The errors of one part of an output, or of all of it.
struct Explanation {
  explicit Explanation(const Comparison& comparison) : tally(comparison) {}

  Tally tally;
  Survey survey;
  std::int64_t broken = -1; ///< the first NaN of the reference that is no right answer

  void add(const Explanation& later) {
    tally.add(later.tally);
    survey.add(later.survey);
    broken = broken < 0 ? later.broken : broken;
  }
};

Explanation survey_part(const Comparison& comparison, const ErrorLimits& limits, std::int64_t first,
                        std::int64_t end) {
  Explanation part(comparison);
  for (std::int64_t i = first; i < end; ++i) {
    const Element element = element_at(comparison, limits, i);
    if (std::isnan(element.expected) && !limits.nan_allowed) {
      part.broken = i;
      return part;
    }
    part.survey.add(i, element, limits);
    if (element.error.ratio > 1) {
      part.tally.add(i, element.got, element.expected, element.error.limit, element.error.ratio);
    }
  }
  return part;
}

// Guesses which lower precision explains the errors: the finest precision coarser than the required
// one, or none. Zeros and missing terms are bugs, not rounding. If only a few elements are off, a
// precision explains them only if their errors are small.
std::optional<tasks::Precision> coarser_precision(const Comparison& comparison,
                                                  const ErrorLimits& limits,
                                                  const ErrorTotals& totals, const Survey& survey) {
  constexpr std::int64_t kBulk = 4; // at least one element in kBulk must be off
  constexpr std::int64_t kFew = 16;
  // Least rms as a share of epsilon: the mean of the errors of 2^23 rounded factors.
  constexpr double kLeastShare = 0x1p-13;
  const double recognisable = survey.off < kFew ? tasks::epsilon(tasks::Precision::BF16) : 0.5;
  const double relative = std::sqrt(survey.difference_squares / survey.expected_squares);
  const bool bulk_is_off = kBulk * survey.off >= static_cast<std::int64_t>(totals.counted);
  if (!std::isfinite(totals.max_ratio) || survey.off == 0 || !bulk_is_off ||
      kBulk * survey.zeros >= survey.off || !(relative < recognisable)) {
    return std::nullopt;
  }
  // If factors of random sign were rounded, the error is proportional to the sum. If sums were
  // rounded, it is proportional to the magnitude. A 16-bit output has 16-bit factors already, so
  // there the sums must have been rounded.
  const bool wide = tasks::size_bytes(comparison.dtype) >= sizeof(float);
  const double size = wide ? relative : 2 * rms(totals) * limits.unit;
  for (const tasks::Precision precision : tasks::all_precisions()) {
    const double epsilon = tasks::epsilon(precision);
    const bool possible = epsilon > limits.unit && (wide || precision != tasks::Precision::TF32) &&
                          rms(totals) * limits.unit >= kLeastShare * epsilon;
    const double limit = std::max(limits.multiple, 1.0) * epsilon;
    if (possible && size <= epsilon && survey.max_units * limits.unit <= limit) {
      return precision;
    }
  }
  return std::nullopt;
}

std::string norm_text(const Comparison& comparison, const ErrorTotals& totals) {
  return fmt::format("rms error {:.3g} times epsilon({}) * magnitude, limit {:.3g}", rms(totals),
                     to_string(comparison.model.accumulate), comparison.model.norm_multiple);
}

ComparisonResult broken_reference(const Comparison& comparison, std::int64_t index) {
  ComparisonResult result;
  result.verdict = Verdict::Infrastructure;
  result.detail = fmt::format("reference.cu leaves NaN in {}{}; expected a number there, or `nan = "
                              "true` in [tolerance] of task.toml",
                              comparison.tensor, position_text(index, comparison.shape));
  return result;
}

ComparisonResult explain(const Comparison& comparison, const ErrorLimits& limits,
                         const ErrorTotals& totals) {
  const std::int64_t total = total_elements(comparison);
  Explanation all(comparison);
  const auto parts =
      scan_parts(total, all, [&](Explanation& part, std::int64_t first, std::int64_t end) {
        part = survey_part(comparison, limits, first, end);
      });
  for (const Explanation& part : parts) {
    all.add(part);
  }
  if (all.broken >= 0) {
    return broken_reference(comparison, all.broken);
  }
  Tally& tally = all.tally;
  const Survey& survey = all.survey;
  if (totals.beyond == 0) {
    const Element& worst = survey.worst;
    tally.add_within(survey.worst_index, worst.got, worst.expected, worst.error.limit);
  }
  ComparisonResult result = tally.result(total, error_ratios(totals, limits));
  if (const auto precision = coarser_precision(comparison, limits, totals, survey)) {
    result.verdict = Verdict::LowPrecision;
    result.mismatch->pattern =
        fmt::format("errors are as large as those of {} arithmetic (the task asks for {}): {}",
                    to_string(*precision), to_string(comparison.model.accumulate),
                    norm_text(comparison, totals));
  } else if (totals.beyond == 0) {
    result.mismatch->pattern = norm_text(comparison, totals);
  }
  return result;
}

ComparisonResult compare_floating(const Comparison& comparison) {
  const ErrorLimits limits = limits_of(comparison.model, comparison.dtype);
  const ErrorTotals totals = totals_of(comparison, limits);
  if (!is_within(totals, limits)) {
    return explain(comparison, limits, totals);
  }
  ComparisonResult result;
  result.ratios = error_ratios(totals, limits);
  return result;
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
  const ComparisonResult result = tally.result(total, {});
  return result.mismatch ? tally.result(total, {infinite, 0}) : result;
}

} // namespace

ErrorLimits limits_of(const ErrorModel& model, tasks::DType output) {
  ErrorLimits limits;
  limits.unit = tasks::epsilon(model.accumulate);
  limits.multiple = model.multiple;
  limits.norm_multiple = model.norm_multiple;
  limits.rounding = tasks::epsilon(output) / 2;
  limits.absolute = model.absolute;
  limits.nan_allowed = model.nan_allowed;
  return limits;
}

bool is_within(const ErrorTotals& totals, const ErrorLimits& limits) {
  return totals.beyond == 0 && rms(totals) <= limits.norm_multiple;
}

ErrorRatios error_ratios(const ErrorTotals& totals, const ErrorLimits& limits) {
  const double norm = rms(totals);
  return {totals.max_ratio, norm > 0 ? norm / limits.norm_multiple : 0};
}

ComparisonResult compare(const Comparison& comparison) {
  return tasks::is_floating(comparison.dtype) ? compare_floating(comparison)
                                              : compare_exact(comparison);
}

} // namespace winnow::evaluators
