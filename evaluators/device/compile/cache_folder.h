#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace winnow::evaluators {

/// How large the compile cache of a kind of devices may get.
struct CacheBounds {
  /// Of all files together, each rounded up to 4 KB. Those used longest ago are removed first.
  std::uint64_t all_bytes = std::uint64_t{4} << 30U;
  /// A larger file is removed as soon as nobody uses it. Modules of honest kernels have some 10 KB,
  /// a few have 150 KB.
  std::uint64_t lasting_bytes = std::uint64_t{8} << 20U;
};

/// Keeps the folder of a cache within its bounds. A file's name begins with 64 digits of a hash;
/// other files are left alone. Several processes may use a folder at once: a lock on a byte of the
/// file `in-use`, which the hash chooses, says that a process uses a file. The first bytes of
/// `in-use` count what all processes have stored since the folder was last read. Where the file
/// system has no locks, nothing is removed.
class CacheFolder : public std::enable_shared_from_this<CacheFolder> {
public:
  CacheFolder(std::filesystem::path directory, CacheBounds bounds);
  ~CacheFolder();
  CacheFolder(const CacheFolder&) = delete; // owns the descriptor
  CacheFolder& operator=(const CacheFolder&) = delete;

  /// Nobody removes the file `name` while a copy of the result exists.
  std::shared_ptr<const void> hold(const std::string& name);
  /// Call it after a file of this size was stored. Reads the folder only after every 16th part of
  /// `all_bytes`.
  void added(std::uint64_t bytes);

private:
  void release(const std::string& name);
  bool must_tidy(std::uint64_t bytes);
  void tidy() const;

  std::filesystem::path directory_;
  CacheBounds bounds_;
  int locks_ = -1; ///< `in-use`; -1: it cannot be opened
  std::mutex mutex_;
  std::map<std::string, int> holds_; ///< how often this object holds a file
};

} // namespace winnow::evaluators
