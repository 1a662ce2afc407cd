#pragma once

#include <chrono>
#include <string>

namespace winnow::simulated_gpus {

/// The path of this library. Its file is the lock of the host, because the fences of a worker let
/// it open no other file that all workers share.
std::string library_path();

/// A lock of the kernel driver that all GPUs of a host share.
class HostLock {
public:
  HostLock();
  ~HostLock();
  HostLock(const HostLock&) = delete; // owns a descriptor
  HostLock& operator=(const HostLock&) = delete;

  /// Holds the lock this long. Returns whether another process held it before.
  bool hold(std::chrono::nanoseconds time) const;

private:
  int fd_;
};

} // namespace winnow::simulated_gpus
