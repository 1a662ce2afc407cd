#pragma once

#include "evaluators/device/device_report.h"
#include "evaluators/host/machine_options.h"

#include <chrono>
#include <memory>
#include <string>

namespace winnow::evaluators {

struct DeviceHost;
/// Opens a device. Evaluators of any number of tasks can share it. `run_timeout`: of one run in a
/// worker or the judge that stays, see Protocol. Throws Error, DeviceUnavailable.
std::shared_ptr<DeviceHost> open_device(const DeviceReport& device, const MachineOptions& machine,
                                        std::chrono::milliseconds run_timeout);
/// Opens the device of `open` once more, for work that shares the device because its times do not
/// count. Throws as open_device().
std::shared_ptr<DeviceHost> open_beside(const DeviceHost& open, const MachineOptions& machine,
                                        std::chrono::milliseconds run_timeout);
/// How the evaluations on a device have spent their time so far, and how often workers were
/// replaced.
struct HostStatistics {
  double run_seconds = 0;      ///< workers ran cases
  double judge_seconds = 0;    ///< the judge compared outputs and ran the reference
  double compile_seconds = 0;  ///< evaluations waited for a compiler or the cache
  int judge_starts = 0;        ///< `_judge` children: one, and one after each failure of one
  int worker_restarts = 0;     ///< workers that a candidate or the device broke
  int recoveries = 0;          ///< candidates that had to wait for a worker after such a restart
  double recovery_seconds = 0; ///< total time that these candidates waited
  double longest_recovery_seconds = 0;
};
HostStatistics statistics(const DeviceHost& host);
/// Why the device is quarantined: it answers every evaluation with `infrastructure` from now on.
/// Empty: not quarantined.
std::string quarantine(const DeviceHost& host);

} // namespace winnow::evaluators
