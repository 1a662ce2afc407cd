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

/// The precompiled headers of one cache directory, each made once, by whoever needs it first. Files
/// appear whole, under names that tell their contents; any number of processes may use the
/// directory. Safe to call from several threads. Nothing here fails a compile: what goes wrong is
/// logged (debug), and there is no precompiled header.
class PrecompiledHeaders {
public:
  /// Writes `file` and says where the compiler library lay; throws Error.
  using Make = std::function<std::uint64_t(const std::filesystem::path& file)>;

  explicit PrecompiledHeaders(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// What `key` (everything that the file depends on, as hex digits) stands for. Others wait while
  /// it is made. After a failure it is not tried again.
  std::optional<PrecompiledHeader> get(const std::string& key, const Make& make);
  /// Removes what has crashed the compiler, and does without from now on.
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
