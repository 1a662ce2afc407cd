#pragma once

#include "evaluators/device/cpu/runtime/guarded_buffers.h"
#include "evaluators/device/device.h"

#include <functional>

namespace winnow::evaluators::cpu {

/// Turns the signals that device code raises into a DeviceFault, then ends the process with
/// kFaultExitCode. Signals handlers belong to the process, so there is one at a time.
class FaultReporter {
public:
  FaultReporter(std::function<void(const DeviceFault&)> on_fatal, const GuardedBuffers& buffers);
  ~FaultReporter();
  FaultReporter(const FaultReporter&) = delete; // the handlers know its address
  FaultReporter& operator=(const FaultReporter&) = delete;

  /// Reports once for the whole process, whichever thread is first, and ends it.
  [[noreturn]] void end_process(const DeviceFault& fault);

private:
  std::function<void(const DeviceFault&)> on_fatal_;
};

/// Gives the calling OS thread a signal stack for as long as it lives; on its own stack a stack
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
