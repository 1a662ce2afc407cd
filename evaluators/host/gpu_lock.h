#pragma once

#include "evaluators/device/device_report.h"

namespace winnow::evaluators {

/// Keeps other Winnow processes from a GPU as long as this object lives, so that two timings never
/// share a GPU. The lock is a file in the system's directory for temporary files, named after the
/// GPU.
class GpuLock {
public:
  GpuLock() = default;
  /// Throws DeviceUnavailable when another process holds the lock.
  explicit GpuLock(const DeviceReport& device);
  ~GpuLock();
  GpuLock(const GpuLock&) = delete; // owns the descriptor
  GpuLock& operator=(const GpuLock&) = delete;

private:
  int fd_ = -1;
};

} // namespace winnow::evaluators
