#pragma once

#include "evaluators/device/compile/compile_answer.h"

#include <filesystem>
#include <optional>
#include <string>

namespace winnow::evaluators {

/// Compiled modules by content hash, KEY.EXTENSION beside KEY.json, in one directory. Any number of
/// processes may use it at once: both files appear whole, the .json last. A damaged entry is none.
class ModuleCache {
public:
  /// Creates the directory; `extension` is ".so" or the like. Throws Error.
  ModuleCache(std::filesystem::path directory, std::string extension);

  std::optional<CompileAnswer> find(const std::string& key) const;
  /// Takes over the module's bytes from `built` (unless the answer is that there is none). The file
  /// was written by a child that ran untrusted work: anything but a plain file throws Error.
  void store(const std::string& key, const CompileAnswer& answer,
             const std::filesystem::path& built) const;
  std::filesystem::path module_path(const std::string& key) const;

private:
  std::filesystem::path directory_;
  std::string extension_;
};

} // namespace winnow::evaluators
