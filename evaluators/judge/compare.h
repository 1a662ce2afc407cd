#pragma once

#include "evaluators/device/compare_core.h"
#include "evaluators/messages/error_model.h"
#include "tasks/result/evaluation.h"
#include "tasks/result/verdict.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace winnow::evaluators {

ErrorLimits limits_of(const ErrorModel& model, tasks::DType output);
/// True when no element exceeds its limit and the rms of all errors does not exceed its own.
bool is_within(const ErrorTotals& totals, const ErrorLimits& limits);
ErrorRatios error_ratios(const ErrorTotals& totals, const ErrorLimits& limits);

/// One output tensor of a candidate and its expected value.
struct Comparison {
  std::string tensor;
  tasks::DType dtype = tasks::DType::F32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> got; ///< elements of `dtype`
  /// Floating outputs: the reference's values, computed in double
  std::span<const double> expected;
  std::span<const double> magnitude; ///< floating outputs: scales the limit; empty: |expected|
  std::span<const std::byte> expected_exact; ///< integer outputs: elements of `dtype`
  std::uint64_t poison = 0;
  ErrorModel model; ///< floating outputs
};

struct ComparisonResult {
  /// Correct, Wrong, LowPrecision or UnwrittenOutput; Infrastructure: the reference is broken.
  tasks::Verdict verdict = tasks::Verdict::Correct;
  std::string detail; ///< Infrastructure only: the reason
  std::optional<tasks::Mismatch> mismatch;
  ErrorRatios ratios;
};

/// Compares one output tensor. Floating outputs: every element and the rms over all elements must
/// keep their limits. The verdict is LowPrecision when most elements are wrong and a lower
/// precision explains their errors. Integers must be equal. An element that still holds the poison
/// counts as unwritten, unless the poison is the right answer.
ComparisonResult compare(const Comparison& comparison);

} // namespace winnow::evaluators
