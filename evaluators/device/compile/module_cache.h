#pragma once

#include "evaluators/device/compile/compile_answer.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace winnow::evaluators {

/// Compiled modules by content hash. One directory has the file KEY.EXTENSION for each compile; see
/// CacheEntry. Several processes may use it at once: each file appears complete. A damaged entry
/// counts as missing.
class ModuleCache {
public:
  /// Creates the directory. `extension`: for example ".so". Throws Error.
  ModuleCache(std::filesystem::path directory, std::string extension);

  /// The answer of a compile worker. `lasting`: compiling again would give the same answer.
  struct Built {
    CompileAnswer answer;
    bool lasting = false;
  };
  /// The cached module of `key`, or a new one: `build` writes it to the file `built` of an empty
  /// directory. Sets digest, seconds and from_cache of the build record.
  CompileResult
  compile(const CompileRequest& request, const std::string& key, const char* built,
          const std::function<Built(const std::filesystem::path& directory)>& build) const;

private:
  std::optional<CompileAnswer> find(const std::string& key) const;
  /// Copies the module's bytes from `built`, unless the answer says that there is no module. A
  /// child that ran untrusted code wrote `built`, so anything but a plain file throws Error.
  void store(const std::string& key, const CompileAnswer& answer,
             const std::filesystem::path& built) const;
  std::filesystem::path entry_path(const std::string& key) const;

  std::filesystem::path directory_;
  std::string extension_;
};

/// For a worker whose compile was cancelled.
ModuleCache::Built cancelled_compile();

} // namespace winnow::evaluators
