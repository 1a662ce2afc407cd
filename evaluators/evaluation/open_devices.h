#pragma once

#include "evaluators/evaluation/device_pool.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// The devices that `machine.device` names, opened, and the evaluations on them. On the CPU nothing
/// is compiled ahead, because compilers would take cores away from the timings.
class OpenDevices : public DevicePool {
public:
  /// `run_timeout`: see open_device(). `warn` is told of each device that is lost later. Throws
  /// UsageError, DeviceUnavailable, Error.
  OpenDevices(const MachineOptions& machine, std::chrono::milliseconds run_timeout,
              std::function<void(const std::string&)> warn = {});
  /// Closes all devices at once, because a driver needs time to destroy each context.
  ~OpenDevices() override;
  OpenDevices(OpenDevices&&) = default;

  const DeviceReport& first() const override { return reports_.front(); }
  const std::vector<DeviceReport>& reports() const { return reports_; }
  std::size_t size() const override { return hosts_.size(); }
  std::string names() const override;
  /// Starts the `_torch` children.
  void start_torch() const override;
  std::unique_ptr<Evaluations> evaluations(TakeResult done) const override;
  HostStatistics statistics() const override;
  std::string account(std::size_t candidates, double seconds) const override;

private:
  MachineOptions machine_;
  std::function<void(const std::string&)> warn_;
  std::vector<DeviceReport> reports_;
  std::vector<std::shared_ptr<DeviceHost>> hosts_;
};

} // namespace winnow::evaluators
