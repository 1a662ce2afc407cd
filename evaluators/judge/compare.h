#pragma once

#include "tasks/evaluation.h"
#include "tasks/verdict.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace winnow::evaluators {

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
  double relative_limit = 0;
  double absolute_limit = 0;
};

struct ComparisonResult {
  tasks::Verdict verdict = tasks::Verdict::Correct; ///< Correct, Wrong or UnwrittenOutput
  std::optional<tasks::Mismatch> mismatch;
  double max_error_ratio = 0; ///< largest difference / limit; infinite for NaN where none belongs
};

/// |got - expected| <= relative_limit * magnitude + absolute_limit for each element; integers must
/// be equal; NaN equals only NaN, an infinity only itself. An element that still holds the poison
/// is unwritten, unless that is the right answer.
ComparisonResult compare(const Comparison& comparison);

/// What the wrong elements (flat indices, ascending) have in common, in words: "all of them",
/// "columns 96 to 99 of every row", "every 32 elements from 31", ...
std::string describe_pattern(const std::vector<std::int64_t>& wrong,
                             const std::vector<std::int64_t>& shape);

/// "[3, 17]" for a flat index into a row-major tensor.
std::string position_text(std::int64_t index, const std::vector<std::int64_t>& shape);

} // namespace winnow::evaluators
