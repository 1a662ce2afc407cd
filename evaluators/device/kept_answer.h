#pragma once

#include "evaluators/device/compare_core.h"
#include "tasks/dtype.h"

#include <cstddef>
#include <span>

namespace winnow::evaluators {

/// One output of the reference that stays on its device when the buffers there are released. Must
/// not outlive the device. Throws Error.
class KeptAnswer {
public:
  virtual ~KeptAnswer() = default;

  virtual std::size_t expected_bytes() const = 0;
  virtual std::size_t magnitude_bytes() const = 0; ///< 0: it is exact
  /// `got`: as many elements of `dtype` as the answer has. Of an exact answer `beyond` is 0 when
  /// the bytes are the same, and nothing else is set.
  virtual ErrorTotals compare(std::span<const std::byte> got, tasks::DType dtype,
                              const ErrorLimits& limits) = 0;
  virtual void download(std::span<std::byte> expected, std::span<std::byte> magnitude) = 0;
};

} // namespace winnow::evaluators
