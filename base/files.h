#pragma once

#include "base/unique_fd.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace winnow {

/// Returns the contents of the file. Throws Error if the file cannot be read or is larger than
/// `max_bytes`.
std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes);

/// The mode of a file that others than its owner may read, write or run. nullopt: only the owner
/// may, or there is no such file.
std::optional<unsigned> mode_if_shared(const std::filesystem::path& path);

/// Who may read a new file.
enum class Readers : std::uint8_t {
  Usual, ///< as the umask says
  Owner, ///< mode 0600: the file holds prompts, replies or kernels
};

/// Replaces the file in one step (temporary file + rename), so that no reader sees a half-written
/// file.
void write_file_atomic(const std::filesystem::path& path, std::string_view bytes,
                       Readers readers = Readers::Usual);
/// Creates an empty file that only its owner may read and write. A file that is there stays as it
/// is, as does one that cannot be created.
void create_private_file(const std::filesystem::path& path);

/// A file that is written piece by piece and replaced in one step, as by write_file_atomic().
class AtomicFile {
public:
  /// Throws Error if no file can be written beside `path`. A device or a pipe is written in place.
  explicit AtomicFile(std::filesystem::path path, Readers readers = Readers::Usual);
  ~AtomicFile();                          ///< without commit() nothing is replaced
  AtomicFile(const AtomicFile&) = delete; // owns the temporary file
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void commit(); ///< call it once; throws Error if not all bytes could be written

private:
  void check();

  std::filesystem::path path_;
  std::filesystem::path temporary_; ///< empty after commit()
  std::ofstream file_;
};

/// True for a regular file and for a link to one. False also if the file system gives an error.
bool is_file(const std::filesystem::path& path);

/// Whether `path` is `folder` or in it, by their text: links count as they are written.
bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder);

/// A new directory with mode 0700. The destructor removes the directory with its contents.
class TemporaryDirectory {
public:
  /// Creates winnow.PREFIX.XXXXXX in $TMPDIR or, if that is not set, in the first of /tmp,
  /// /var/tmp, /dev/shm and the working directory that can be written to. Removes those of this
  /// user there whose process was killed.
  explicit TemporaryDirectory(std::string_view prefix);
  /// In `parent`.
  TemporaryDirectory(std::string_view prefix, const std::filesystem::path& parent);
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete; // one owner per directory
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
  UniqueFd lock_; ///< of the folder, as long as this process lives
};

/// Whether an errno says that there is no room for a file: of the disk, the quota or the limit of
/// the process.
bool is_full(int system_errno);

/// $XDG_CACHE_HOME/winnow or ~/.cache/winnow; without a home that can be written to,
/// /tmp/winnow-cache-UID, or the same in another place as for TemporaryDirectory. Creates the
/// directory and sets its mode to 0700.
std::filesystem::path cache_directory();

/// The folder `winnow` in the folder of an XDG variable or, if that is not set, in ~/`under_home`.
/// Not created. nullopt: there is no home either.
std::optional<std::filesystem::path> users_folder(const char* variable, const char* under_home);

/// $XDG_DATA_HOME/winnow or ~/.local/share/winnow (not created); /tmp/winnow-data-UID without a
/// home.
std::filesystem::path user_data_directory();

/// $XDG_STATE_HOME/winnow or ~/.local/state/winnow (not created); /tmp/winnow-state-UID without a
/// home.
std::filesystem::path user_state_directory();

/// A file or folder that comes with Winnow ("configs/quickstart.toml"): in ../share/winnow of an
/// installed program, else in the source tree, which is looked for from the program upwards, then
/// from the working directory upwards. Relative if it is in the working directory.
std::optional<std::filesystem::path> find_shipped(const std::filesystem::path& name);
/// Where find_shipped() looks, for messages.
std::string shipped_places();

/// The path of the running program, for spawning the same program again.
std::filesystem::path executable_path();

} // namespace winnow
