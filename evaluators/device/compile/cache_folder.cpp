#include "evaluators/device/compile/cache_folder.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace winnow::evaluators {
namespace fs = std::filesystem;
namespace {

constexpr const char* kLockFile = "in-use";
constexpr off_t kCounterBytes = sizeof(std::uint64_t);
constexpr std::uint64_t kBlock = 4096;

/// Locks belong to the open file, not to the process: so also two caches of one process see each
/// other's.
bool lock(int file, short type, off_t start, off_t size, bool waits) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = start;
  range.l_len = size;
  return fcntl(file, waits ? F_OFD_SETLKW : F_OFD_SETLK, &range) == 0;
}

/// The byte of the lock file that stands for a file of the cache; nullopt: it is none.
std::optional<off_t> byte_of(const std::string& name) {
  constexpr std::size_t kDigits = 15;
  std::int64_t number = 0;
  const char* end = name.data() + kDigits;
  const bool is_entry = name.size() >= kDigits &&
                        std::from_chars(name.data(), end, number, 16).ptr == end && number >= 0;
  return is_entry ? std::optional<off_t>(kCounterBytes + number) : std::nullopt;
}

int open_locks(const fs::path& directory) {
  return open((directory / kLockFile).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
}

/// Removes files that nobody uses.
class Remover {
public:
  explicit Remover(const fs::path& directory)
      : directory_(directory), locks_(open_locks(directory)) {}
  ~Remover() {
    if (locks_ >= 0) {
      close(locks_);
    }
  }
  Remover(const Remover&) = delete; // owns the descriptor
  Remover& operator=(const Remover&) = delete;

  bool remove(const std::string& name) const {
    const auto byte = byte_of(name);
    if (locks_ < 0 || !byte || !lock(locks_, F_WRLCK, *byte, 1, false)) {
      return false;
    }
    std::error_code error;
    const bool removed = fs::remove(directory_ / name, error);
    lock(locks_, F_UNLCK, *byte, 1, false);
    return removed;
  }

private:
  const fs::path& directory_;
  int locks_;
};

struct CachedFile {
  fs::file_time_type used;
  std::uint64_t bytes = 0;
  std::string name;
};

std::vector<CachedFile> files_of(const fs::path& directory) {
  std::vector<CachedFile> files;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone; // another process has removed it
    CachedFile file{at->last_write_time(gone), 0, at->path().filename().string()};
    const std::uint64_t size = gone ? 0 : at->file_size(gone);
    file.bytes = (size + kBlock - 1) / kBlock * kBlock;
    if (!gone && byte_of(file.name)) {
      files.push_back(std::move(file));
    }
  }
  return files;
}

} // namespace

CacheFolder::CacheFolder(fs::path directory, CacheBounds bounds)
    : directory_(std::move(directory)), bounds_(bounds), locks_(open_locks(directory_)) {}

CacheFolder::~CacheFolder() {
  if (locks_ >= 0) {
    close(locks_);
  }
}

std::shared_ptr<const void> CacheFolder::hold(const std::string& name) {
  const std::lock_guard guard(mutex_);
  const auto byte = byte_of(name);
  if (++holds_[name] == 1 && byte) {
    lock(locks_, F_RDLCK, *byte, 1, true);
  }
  return {nullptr, [self = shared_from_this(), name](const void*) { self->release(name); }};
}

void CacheFolder::release(const std::string& name) {
  {
    const std::lock_guard guard(mutex_);
    if (--holds_[name] > 0) {
      return;
    }
    holds_.erase(name);
    if (const auto byte = byte_of(name)) {
      lock(locks_, F_UNLCK, *byte, 1, false);
    }
  }
  std::error_code absent;
  const std::uint64_t size = fs::file_size(directory_ / name, absent);
  if (!absent && size > bounds_.lasting_bytes) {
    Remover(directory_).remove(name);
  }
}

void CacheFolder::added(std::uint64_t bytes) {
  if (must_tidy(bytes)) {
    tidy();
  }
}

bool CacheFolder::must_tidy(std::uint64_t bytes) {
  const std::lock_guard guard(mutex_);
  if (!lock(locks_, F_WRLCK, 0, kCounterBytes, true)) {
    return false;
  }
  std::uint64_t stored = 0;
  if (pread(locks_, &stored, sizeof(stored), 0) != kCounterBytes) {
    stored = 0; // the file is new
  }
  stored += std::max(bytes, kBlock);
  const bool due = stored >= bounds_.all_bytes / 16;
  stored = due ? 0 : stored;
  const bool counted = pwrite(locks_, &stored, sizeof(stored), 0) == kCounterBytes;
  lock(locks_, F_UNLCK, 0, kCounterBytes, false);
  return due || !counted;
}

void CacheFolder::tidy() const {
  std::vector<CachedFile> files = files_of(directory_);
  std::uint64_t sum = 0;
  for (const CachedFile& file : files) {
    sum += file.bytes;
  }
  const std::uint64_t most = bounds_.all_bytes - bounds_.all_bytes / 16;
  std::sort(files.begin(), files.end(),
            [](const CachedFile& a, const CachedFile& b) { return a.used < b.used; });
  const Remover remover(directory_);
  for (const CachedFile& file : files) {
    if (sum <= most) {
      return;
    }
    sum -= remover.remove(file.name) ? file.bytes : 0;
  }
}

} // namespace winnow::evaluators
