#pragma once

#include "tasks/inputs/generator_core.h"

#include <vector>

namespace winnow::tasks {

/// The rows of a sparse matrix in their order. To find each row anew (core::csr_row()) takes a step
/// for each doubling of the number of rows; here a row takes two on average. In a header, because
/// input_generator.cpp alone is compiled without contractions.
class CsrWalk {
public:
  /// Begins with the row `target` or, with `by_entry`, with the row that has the entry `target`.
  CsrWalk(const DrawnGenerator& spec, std::uint64_t seed, std::uint64_t target, bool by_entry)
      : spec_(spec), stream_(core::csr_stream(spec, seed)), row_(core::csr_matrix(spec)) {
    while (row_.rows > 1) {
      const core::CsrHalves halves = core::csr_halves(spec_, stream_, row_);
      const bool is_left = target < (by_entry ? halves.right.before : halves.right.first);
      if (is_left) {
        right_.push_back(halves.right);
      }
      row_ = is_left ? halves.left : halves.right;
    }
  }

  [[nodiscard]] const core::CsrSpan& row() const { return row_; }
  [[nodiscard]] bool is_last() const { return right_.empty(); }

  /// Unless is_last().
  void next() {
    row_ = right_.back();
    right_.pop_back();
    while (row_.rows > 1) {
      const core::CsrHalves halves = core::csr_halves(spec_, stream_, row_);
      right_.push_back(halves.right);
      row_ = halves.left;
    }
  }

private:
  const DrawnGenerator& spec_;
  const core::RandomStream stream_;
  core::CsrSpan row_;
  std::vector<core::CsrSpan> right_; ///< what comes after row_; the nearest is the last one
};

} // namespace winnow::tasks
