#pragma once

#include "harness/baseline/torch_baseline.h"

#include <memory>

namespace winnow::evaluators {
struct DeviceHost;
} // namespace winnow::evaluators

namespace winnow::harness {

/// What measure_torch() does for one task, in two parts, so that the longer part may run beside
/// that of other tasks.
class TorchMeasurement {
public:
  virtual ~TorchMeasurement() = default;
  /// Runs all that will be timed once, so that torch.compile has done its work, and compares the
  /// answers. Throws as measure_torch().
  virtual void answer() = 0;
  /// Runs again what had no answer: beside others, memory may have been short.
  virtual void answer_missing() = 0;
  /// Times all that answered, in turns. Nothing else may use the device.
  virtual TorchBaseline time() = 0;
};

/// Opens the device of `open` once more. `task` and `options` must live as long as the result.
std::unique_ptr<TorchMeasurement> open_measurement(const tasks::Task& task,
                                                   const TorchBaselineOptions& options,
                                                   const evaluators::DeviceHost& open);

} // namespace winnow::harness
