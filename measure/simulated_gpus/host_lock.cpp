#include "measure/simulated_gpus/host_lock.h"

#include "measure/simulated_gpus/gpu.h"

#include <cstdio>
#include <cstdlib>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace winnow::simulated_gpus {

std::string library_path() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&library_path), &info);
  return info.dli_fname;
}

HostLock::HostLock() : fd_(open(library_path().c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0) {
    std::perror("simulated GPUs: cannot open their library to lock it");
    std::abort(); // without the lock the figures would be wrong
  }
}

HostLock::~HostLock() {
  close(fd_);
}

bool HostLock::hold(std::chrono::nanoseconds time) const {
  const bool waits = flock(fd_, LOCK_EX | LOCK_NB) != 0;
  if (waits) {
    flock(fd_, LOCK_EX);
  }
  sleep(time);
  flock(fd_, LOCK_UN);
  return waits;
}

} // namespace winnow::simulated_gpus
