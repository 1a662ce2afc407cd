#pragma once

#include "evaluators/device/compare_core.h"
#include "tasks/result/evaluation.h"
#include "tasks/result/verdict.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// A task's tolerance at one shape (docs/task.md).
struct ErrorModel {
  tasks::Precision accumulate = tasks::Precision::F32;
  double multiple = 0;
  double norm_multiple = 0;
  double absolute = 0;
  bool nan_allowed = false;
};

ErrorLimits limits_of(const ErrorModel& model, tasks::DType output);
/// No element is beyond its limit, nor the rms over all of them.
bool is_within(const ErrorTotals& totals, const ErrorLimits& limits);
/// The larger of the largest difference / limit and rms / norm_multiple.
double error_ratio(const ErrorTotals& totals, const ErrorLimits& limits);

/// One output tensor of a candidate and what it should be.
struct Comparison {
  std::string tensor;
  tasks::DType dtype = tasks::DType::F32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> got;    ///< elements of `dtype`
  std::span<const double> expected;  ///< floating outputs: computed in double
  std::span<const double> magnitude; ///< floating outputs: scales the limit; empty: |expected|
  std::span<const std::byte> expected_exact; ///< integer outputs: elements of `dtype`
  std::uint64_t poison = 0;
  ErrorModel model; ///< floating outputs
};

struct ComparisonResult {
  /// Correct, Wrong, LowPrecision or UnwrittenOutput; Infrastructure: the reference is broken.
  tasks::Verdict verdict = tasks::Verdict::Correct;
  std::string detail; ///< Infrastructure: why
  std::optional<tasks::Mismatch> mismatch;
  double max_error_ratio = 0; ///< error_ratio(); infinite for NaN where none belongs
};

/// Floating outputs: every element and the rms over all must keep their limits. Errors of most
/// elements that a coarser precision explains are LowPrecision. Integers must be equal. An element
/// that still holds the poison is unwritten, unless that is the right answer.
ComparisonResult compare(const Comparison& comparison);

} // namespace winnow::evaluators
