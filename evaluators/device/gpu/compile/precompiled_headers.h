#pragma once

#include "evaluators/device/gpu/compile/runtime_compiler.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace winnow::evaluators {

/// The precompiled headers of one cache directory. The first compile that needs a file creates it.
/// Files appear complete, under names with a hash of their contents. Several processes may use the
/// directory. Safe to call from several threads. A failure never fails a compile: it is logged
/// (debug), and the compile runs without a precompiled header.
class PrecompiledHeaders {
public:
  /// Writes `file` and returns the load address of the compiler library. Throws Error.
  using Make = std::function<std::uint64_t(const std::filesystem::path& file)>;

  explicit PrecompiledHeaders(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// The file for `key`, a hash of everything that the file depends on, as hex digits. Other
  /// threads wait while the file is made. After a failure this process does not try again.
  std::optional<PrecompiledHeader> get(const std::string& key, const Make& make);
  /// Removes a file that crashed the compiler. This process does not use the key any more.
  void reject(const std::string& key);

  const std::filesystem::path& directory() const { return directory_; }

private:
  std::optional<PrecompiledHeader> find(const std::string& key) const;
  PrecompiledHeader make_file(const std::string& key, const Make& make) const;
  void remove_old(const std::filesystem::path& kept) const;

  std::filesystem::path directory_;
  std::mutex mutex_;
  std::map<std::string, std::optional<PrecompiledHeader>> known_;
};

} // namespace winnow::evaluators
