#pragma once

#include "base/error.h"
#include "tasks/result/verdict.h"

#include <string>
#include <utility>

namespace winnow::evaluators {

/// A failure while device code ran. A fault is data: the coordinator turns it into a verdict.
struct DeviceFault {
  tasks::Verdict verdict = tasks::Verdict::LaunchError;
  std::string detail; ///< names the buffer, byte, kernel, block and thread as far as they are known
};

/// Thrown by those calls of Device that cannot return a fault: no memory for a buffer, or a copy
/// that reports the failure of an earlier launch.
class DeviceFailure : public Error {
public:
  explicit DeviceFailure(DeviceFault fault) : Error(fault.detail), fault_(std::move(fault)) {}
  const DeviceFault& fault() const { return fault_; }

private:
  DeviceFault fault_;
};

/// Exit code of a process that reported a fault and then ended because of it.
constexpr int kFaultExitCode = 86;

/// A finding of check mode. A `certain` finding decides the verdict; any other finding is a note.
struct CheckFinding {
  tasks::Verdict verdict = tasks::Verdict::Unstable;
  std::string detail;
  bool certain = true;
};

} // namespace winnow::evaluators
