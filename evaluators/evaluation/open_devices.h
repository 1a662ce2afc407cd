#pragma once

#include "evaluators/evaluation/evaluations.h"
#include "evaluators/evaluation/evaluator.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// The devices that `machine.device` names, opened, and the evaluations on them. On the CPU nothing
/// is compiled ahead, because compilers would take cores away from the timings.
class OpenDevices {
public:
  /// `run_timeout`: see open_device(). Throws UsageError, DeviceUnavailable, Error.
  OpenDevices(const MachineOptions& machine, std::chrono::milliseconds run_timeout);
  /// Closes all devices at once, because a driver needs time to destroy each context.
  ~OpenDevices();
  OpenDevices(OpenDevices&&) = default;

  const DeviceReport& first() const { return reports_.front(); }
  std::size_t size() const { return hosts_.size(); }
  /// "cuda:0,cuda:1"
  std::string names() const;
  /// Starts the `_torch` children. Throws Error if PyTorch is missing or cannot use the device.
  void start_torch() const;
  /// One at a time, because each uses all devices.
  std::unique_ptr<Evaluations> evaluations(TakeResult done) const;
  EvaluationsFactory factory() const;
  /// The sum over all devices.
  HostStatistics statistics() const;
  /// "100 candidates in 15.0 s: 400 a minute", and what the devices did in that time.
  std::string account(std::size_t candidates, double seconds) const;

private:
  MachineOptions machine_;
  std::vector<DeviceReport> reports_;
  std::vector<std::shared_ptr<DeviceHost>> hosts_;
};

} // namespace winnow::evaluators
