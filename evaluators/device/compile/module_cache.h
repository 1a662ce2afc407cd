#pragma once

#include "evaluators/device/compile/cache_folder.h"
#include "evaluators/device/compile/compile_answer.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace winnow::evaluators {

/// Compiled modules by content hash. One directory has the file KEY.EXTENSION for each compile; see
/// CacheEntry. Several processes may use it at once: each file appears complete. A damaged entry
/// counts as missing. CacheBounds says how large the directory gets, beside what is in use.
class ModuleCache {
public:
  /// Creates the directory. `extension`: for example ".so". Throws Error.
  ModuleCache(std::filesystem::path directory, std::string extension, CacheBounds bounds = {});

  /// What a compile worker sent. `lasting`: compiling again would give the same answer.
  struct Built {
    CompiledModule compiled;
    bool lasting = false;
  };
  /// The cached module of `key`, or the one of `build`. Sets digest, seconds and from_cache of the
  /// build record.
  CompileResult compile(const CompileRequest& request, const std::string& key,
                        const std::function<Built()>& build) const;

private:
  std::optional<CompileAnswer> find(const std::string& key) const;
  void store(const std::string& key, const CompiledModule& compiled) const;
  std::filesystem::path entry_path(const std::string& key) const;

  std::filesystem::path directory_;
  std::string extension_;
  std::shared_ptr<CacheFolder> folder_;
};

/// For a worker whose compile was cancelled.
ModuleCache::Built cancelled_compile();

} // namespace winnow::evaluators
