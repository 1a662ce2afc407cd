#pragma once

#include "evaluators/device/compile/compile_answer.h"

#include <filesystem>
#include <optional>
#include <string>

namespace winnow::evaluators {

/// Compiled modules by content hash. One directory has KEY.EXTENSION and KEY.json for each module.
/// Several processes may use it at once: each file appears complete, the .json last. A damaged
/// entry counts as missing.
class ModuleCache {
public:
  /// Creates the directory. `extension`: for example ".so". Throws Error.
  ModuleCache(std::filesystem::path directory, std::string extension);

  std::optional<CompileAnswer> find(const std::string& key) const;
  /// Copies the module's bytes from `built`, unless the answer says that there is no module. A
  /// child that ran untrusted code wrote `built`, so anything but a plain file throws Error.
  void store(const std::string& key, const CompileAnswer& answer,
             const std::filesystem::path& built) const;
  std::filesystem::path module_path(const std::string& key) const;

private:
  std::filesystem::path directory_;
  std::string extension_;
};

} // namespace winnow::evaluators
