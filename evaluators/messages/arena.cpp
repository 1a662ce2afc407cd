#include "evaluators/messages/arena.h"

#include "base/error.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace winnow::evaluators {

Arena::Arena(std::uint64_t bytes)
    : fd_(memfd_create("winnow-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING)), bytes_(bytes) {
  // The size is sealed, so that no child can shrink the memory while another child uses it.
  if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(bytes)) != 0 ||
      fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    const std::string reason = std::strerror(errno);
    if (fd_ >= 0) {
      close(fd_);
    }
    throw Error(fmt::format("cannot create {} bytes of shared memory: {}", bytes, reason));
  }
}

Arena::~Arena() {
  close(fd_);
}

void Arena::clear() {
  if (fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes_)) !=
      0) {
    throw Error(fmt::format("cannot clear the shared memory: {}", std::strerror(errno)));
  }
}

ArenaView::ArenaView(int fd) : fd_(fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) {
    throw Error(fmt::format("no shared memory at descriptor {}: {}", fd, std::strerror(errno)));
  }
  bytes_ = static_cast<std::uint64_t>(status.st_size);
  map();
}

ArenaView::~ArenaView() {
  hide();
}

void ArenaView::map() const {
  void* data = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_, 0);
  if (data == MAP_FAILED) {
    throw Error(fmt::format("cannot map the shared memory: {}", std::strerror(errno)));
  }
  data_ = static_cast<std::byte*>(data);
}

void ArenaView::hide() const noexcept {
  if (data_ != nullptr) {
    munmap(data_, bytes_);
    data_ = nullptr;
  }
}

std::span<std::byte> ArenaView::slice(std::uint64_t offset, std::uint64_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset) {
    throw Error(fmt::format("range {}+{} lies outside the shared memory of {} bytes", offset, bytes,
                            bytes_));
  }
  if (data_ == nullptr) {
    map();
  }
  return {data_ + offset, bytes};
}

} // namespace winnow::evaluators
