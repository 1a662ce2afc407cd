#include "evaluators/host/gpu_lock.h"

#include "base/error.h"

#include <cerrno>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace winnow::evaluators {

GpuLock::GpuLock(const DeviceReport& device) {
  if (device.kind == "cpu") {
    return;
  }
  const std::string name = device.uuid.empty() ? device.id : device.uuid;
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("winnow-" + name + ".lock");
  // The file may belong to another user. Linux may refuse O_CREAT for such a file in /tmp.
  fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0 && errno == ENOENT) {
    fd_ = open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
  }
  if (fd_ < 0) {
    throw Error("cannot open the lock of " + device.id + ": " + path.string(),
                "make it readable, or set TMPDIR");
  }
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    close(fd_);
    throw DeviceUnavailable(device.id + " is in use by another Winnow, and timings never share a "
                                        "GPU",
                            "wait for it to end, or choose another GPU with --device");
  }
}

GpuLock::~GpuLock() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

} // namespace winnow::evaluators
