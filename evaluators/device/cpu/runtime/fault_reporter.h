#pragma once

#include "evaluators/device/cpu/runtime/guarded_buffers.h"
#include "evaluators/device/device_fault.h"

#include <functional>

namespace winnow::evaluators::cpu {

/// Turns signals that device code raises into a DeviceFault, then ends the process with
/// kFaultExitCode. Signal handlers belong to the process, so only one reporter may exist at a time.
class FaultReporter {
public:
  FaultReporter(std::function<void(const DeviceFault&)> on_fatal, const GuardedBuffers& buffers);
  ~FaultReporter();
  FaultReporter(const FaultReporter&) = delete; // the handlers know its address
  FaultReporter& operator=(const FaultReporter&) = delete;

  /// Reports the fault and ends the process. Only the first thread that calls it reports.
  [[noreturn]] void end_process(const DeviceFault& fault);

private:
  std::function<void(const DeviceFault&)> on_fatal_;
};

/// Gives the calling OS thread a signal stack as long as the thread lives. Without one, a stack
/// overflow could not be reported.
class SignalStack {
public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack&) = delete; // owns a mapping that the kernel knows
  SignalStack& operator=(const SignalStack&) = delete;

private:
  void* mapping_ = nullptr;
  void* previous_ = nullptr;
  std::size_t previous_bytes_ = 0;
  int previous_flags_ = 0;
};

} // namespace winnow::evaluators::cpu
