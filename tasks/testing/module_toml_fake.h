#pragma once

#include <string>

namespace winnow::tasks {

/// A task.toml whose reference becomes the PyTorch module, whose sizes cannot vary.
inline std::string module_toml(std::string toml, const std::string& mode = "eval") {
  if (const std::size_t key = toml.find("\nvaried_axes"); key != std::string::npos) {
    toml.erase(key + 1, toml.find('\n', key + 1) - key - 1);
  }
  return toml + "\n[reference]\nkind = \"torch\"\nmode = \"" + mode + "\"\n";
}

} // namespace winnow::tasks
