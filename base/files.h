#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace winnow {

/// The whole file. Throws Error when it cannot be read or is larger than `max_bytes`.
std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes);

/// Replaces the file in one step (temporary file + rename), so that a reader never sees half of it.
void write_file_atomic(const std::filesystem::path& path, std::string_view bytes);

/// A regular file, or a link to one; false also where that cannot be known.
bool is_file(const std::filesystem::path& path);

/// A fresh directory, mode 0700, removed with all it holds at the end of its scope.
class TemporaryDirectory {
public:
  /// Under $TMPDIR or /tmp, named winnow-PREFIX-XXXXXX.
  explicit TemporaryDirectory(std::string_view prefix);
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete; // the directory is removed exactly once
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

/// $XDG_CACHE_HOME/winnow or ~/.cache/winnow (created, mode 0700); /tmp/winnow-cache-UID without a
/// home.
std::filesystem::path cache_directory();

/// A file that comes with Winnow ("configs/quickstart.toml"): in the working directory or above it,
/// else above the running program. Relative if it is in the working directory.
std::optional<std::filesystem::path> find_shipped_file(const std::filesystem::path& name);

/// The running program's own path, for spawning it again.
std::filesystem::path executable_path();

} // namespace winnow
