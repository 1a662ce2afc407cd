#pragma once

#include "base/availability.h"
#include "evaluators/device/device_report.h"

#include <string>
#include <vector>

namespace winnow::evaluators {

/// Asks the GPU drivers in a child process. The process keeps the first answer; later calls return
/// it.
const std::vector<DeviceReport>& probe_devices();
/// "best" is the first GPU that works, or the CPU if none does. "cuda" is the first device of that
/// kind. Throws UsageError, or DeviceUnavailable with the reason and the remedy.
DeviceReport select_device(const std::string& name);
/// Accepts a list of names, "cuda:0,cuda:1". The devices must be different, of one kind and one
/// model.
std::vector<DeviceReport> select_devices(const std::string& names);

struct ToolReport {
  std::string name; ///< "clang++", "g++", "nvrtc", "hiprtc"
  Availability availability;
};
std::vector<ToolReport> probe_compilers();

/// Entry point of the hidden subcommand `_devices`, which asks the drivers.
int device_probe_worker_main(std::vector<std::string> arguments);

} // namespace winnow::evaluators
