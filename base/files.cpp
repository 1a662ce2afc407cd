#include "base/files.h"

#include "base/error.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace winnow {
namespace fs = std::filesystem;
namespace {

bool is_writable(const fs::path& folder) {
  return access(folder.c_str(), W_OK | X_OK) == 0;
}

/// For files that may be lost. Sandboxes of other programs often leave one of these only.
fs::path scratch_folder() {
  for (const char* folder : {"/tmp", "/var/tmp", "/dev/shm"}) {
    if (is_writable(folder)) {
      return folder;
    }
  }
  std::error_code none;
  return fs::current_path(none);
}

fs::path temporary_folder() {
  const char* given = std::getenv("TMPDIR");
  return given != nullptr && *given != 0 ? fs::path(given) : scratch_folder();
}

fs::path users_place(const char* variable, const char* under_home, const char* kind) {
  return users_folder(variable, under_home)
      .value_or(scratch_folder() / fmt::format("winnow-{}-{}", kind, getuid()));
}

/// Where the home cannot be written to. Throws Error if somebody else has made the folder.
fs::path make_scratch_cache() {
  const fs::path path = scratch_folder() / fmt::format("winnow-cache-{}", getuid());
  struct stat made {};
  if ((mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST) || lstat(path.c_str(), &made) != 0 ||
      !S_ISDIR(made.st_mode) || made.st_uid != getuid() || !is_writable(path)) {
    throw Error(path.string() + ": cannot be made, or belongs to somebody else",
                "set XDG_CACHE_HOME to a directory that can be written");
  }
  return path;
}

fs::path installed_data() {
  return executable_path().parent_path().parent_path() / "share" / "winnow";
}

} // namespace

std::string read_file(const fs::path& path, std::uint64_t max_bytes) {
  std::error_code code;
  if (fs::is_directory(path, code)) {
    throw Error(fmt::format("{}: is a directory, not a file", path.string()));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw Error(fmt::format("{}: cannot be read: {}", path.string(), std::strerror(errno)));
  }
  std::string bytes;
  char buffer[65536];
  while (file.read(buffer, sizeof buffer) || file.gcount() > 0) {
    bytes.append(buffer, static_cast<std::size_t>(file.gcount()));
    if (bytes.size() > max_bytes) {
      throw Error(fmt::format("{}: larger than the limit of {} bytes", path.string(), max_bytes));
    }
  }
  return bytes;
}

bool is_file(const fs::path& path) {
  std::error_code unknown;
  return fs::is_regular_file(path, unknown);
}

bool is_below(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

std::optional<unsigned> mode_if_shared(const fs::path& path) {
  struct stat status {};
  const bool is_shared =
      stat(path.c_str(), &status) == 0 && (status.st_mode & (S_IRWXG | S_IRWXO)) != 0;
  return is_shared ? std::optional(status.st_mode & 07777U) : std::nullopt;
}

void create_private_file(const fs::path& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file >= 0) {
    close(file);
  }
}

bool is_full(int system_errno) {
  return system_errno == ENOSPC || system_errno == EDQUOT || system_errno == EFBIG;
}

namespace {

/// /dev/null, or a pipe: a file cannot take its place.
bool is_stream(const fs::path& path) {
  std::error_code absent;
  const fs::file_type type = fs::status(path, absent).type();
  return type == fs::file_type::character || type == fs::file_type::fifo;
}

/// Why a file cannot be written. A mistake in its name can be mended by another name.
[[noreturn]] void fail_to_write(const std::string& what, const std::error_code& code) {
  const std::string words = what + ": " + code.message();
  if (is_full(code.value())) {
    throw Error(words, "free some space, or allow larger files (ulimit -f), and try again");
  }
  throw UsageError(words, "name a path in a folder that exists and that you may write to");
}

} // namespace

AtomicFile::AtomicFile(fs::path path, Readers readers)
    : path_(std::move(path)),
      temporary_(is_stream(path_) ? "" : path_.string() + fmt::format(".{}.tmp", getpid())) {
  if (temporary_.empty()) {
    file_.open(path_, std::ios::binary);
    check();
    return;
  }
  if (readers == Readers::Owner) {
    std::error_code ignored;
    fs::remove(temporary_, ignored); // of a process that died
    create_private_file(temporary_);
  }
  file_.open(temporary_, std::ios::binary | std::ios::trunc);
  check();
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) {
    std::error_code code;
    fs::remove(temporary_, code);
  }
}

void AtomicFile::write(std::string_view bytes) {
  file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  check();
}

void AtomicFile::commit() {
  file_.close();
  check();
  std::error_code code;
  if (!temporary_.empty()) {
    fs::rename(temporary_, path_, code);
  }
  if (code) {
    fail_to_write(path_.string() + ": cannot be replaced", code);
  }
  temporary_.clear();
}

void AtomicFile::check() {
  if (!file_) {
    const std::error_code why(errno, std::generic_category());
    std::error_code ignored;
    fs::remove(temporary_, ignored);
    fail_to_write(path_.string() + ": cannot be written", why);
  }
}

void write_file_atomic(const fs::path& path, std::string_view bytes, Readers readers) {
  AtomicFile file(path, readers);
  file.write(bytes);
  file.commit();
}

namespace {

/// Holds nothing if another process has it, or if the file system has no locks.
UniqueFd locked(const fs::path& folder) {
  UniqueFd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return fd && flock(fd.get(), LOCK_EX | LOCK_NB) == 0 ? std::move(fd) : UniqueFd();
}

/// A new folder may not be locked yet.
bool is_left_alone(int folder) {
  constexpr std::time_t kLocked = 10; // s
  struct stat status {};
  return fstat(folder, &status) == 0 && status.st_uid == geteuid() &&
         status.st_mtime + kLocked < std::time(nullptr);
}

/// Removes the folders in `parent` whose names begin so and whose process has ended.
void remove_orphans(const fs::path& parent, const std::string& beginning) {
  std::error_code code;
  for (fs::directory_iterator at(parent, code), end; !code && at != end; at.increment(code)) {
    if (at->path().filename().string().starts_with(beginning)) {
      if (const UniqueFd lock = locked(at->path()); lock && is_left_alone(lock.get())) {
        std::error_code ignored;
        fs::remove_all(at->path(), ignored);
      }
    }
  }
}

} // namespace

TemporaryDirectory::TemporaryDirectory(std::string_view prefix)
    : TemporaryDirectory(prefix, temporary_folder()) {}

TemporaryDirectory::TemporaryDirectory(std::string_view prefix, const fs::path& parent) {
  const std::string beginning = fmt::format("winnow.{}.", prefix);
  remove_orphans(parent, beginning);
  std::string pattern = fmt::format("{}/{}XXXXXX", parent.string(), beginning);
  if (mkdtemp(pattern.data()) == nullptr) {
    throw Error(
        fmt::format("{}: cannot create a temporary directory: {}", pattern, std::strerror(errno)),
        "set TMPDIR to a directory that can be written");
  }
  path_ = pattern;
  lock_ = locked(path_);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code code;
  fs::remove_all(path_, code);
}

fs::path cache_directory() {
  fs::path path = users_place("XDG_CACHE_HOME", ".cache", "cache");
  std::error_code code;
  fs::create_directories(path, code);
  if (code || !is_writable(path)) {
    if (std::getenv("XDG_CACHE_HOME") == nullptr) {
      return make_scratch_cache();
    }
    throw Error(path.string() + ": the cache directory cannot be created or written to",
                "set XDG_CACHE_HOME to a directory that can be written");
  }
  fs::permissions(path, fs::perms::owner_all, code);
  return path;
}

std::optional<fs::path> users_folder(const char* variable, const char* under_home) {
  const char* xdg = std::getenv(variable);
  const char* home = std::getenv("HOME");
  return xdg != nullptr && *xdg == '/'     ? std::optional(fs::path(xdg) / "winnow")
         : home != nullptr && *home == '/' ? std::optional(fs::path(home) / under_home / "winnow")
                                           : std::nullopt;
}

fs::path user_data_directory() {
  return users_place("XDG_DATA_HOME", ".local/share", "data");
}

fs::path user_state_directory() {
  return users_place("XDG_STATE_HOME", ".local/state", "state");
}

namespace {

/// The name in a folder, or in one of its parents.
std::optional<fs::path> find_upwards(fs::path folder, const fs::path& name) {
  std::error_code ignored;
  for (;;) {
    if (fs::exists(folder / name, ignored)) {
      return folder / name;
    }
    if (!folder.has_parent_path() || folder == folder.parent_path()) {
      return std::nullopt;
    }
    folder = folder.parent_path();
  }
}

} // namespace

std::optional<fs::path> find_shipped(const fs::path& name) {
  std::error_code ignored;
  if (const fs::path installed = installed_data() / name; fs::exists(installed, ignored)) {
    return installed;
  }
  // The working folder may be anybody's, so it comes last.
  auto found = find_upwards(executable_path().parent_path(), name);
  if (!found) {
    found = find_upwards(fs::current_path(), name);
  }
  const bool is_here = found && fs::equivalent(*found, name, ignored);
  return is_here ? name : found; // short in messages
}

std::string shipped_places() {
  const fs::path here = fs::current_path(), program = executable_path().parent_path();
  return fmt::format("in {}, and in {} and all parent folders", installed_data().string(),
                     program.string() + (here == program ? "" : ", in " + here.string()));
}

fs::path executable_path() {
  std::error_code code;
  fs::path path = fs::read_symlink("/proc/self/exe", code);
  if (code) {
    throw Error("/proc/self/exe cannot be read: " + code.message(), "mount /proc");
  }
  return path;
}

} // namespace winnow
