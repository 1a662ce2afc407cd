#pragma once

#include "base/files.h"

#include <filesystem>

namespace winnow::evaluators {

/// A cache directory without compiled modules and measured ceilings. All tests of a program share
/// its device headers, because writing these 350 files takes longer than compiling a small kernel.
/// A program has one FreshCache at a time.
class FreshCache {
public:
  FreshCache() {
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      if (!entry.path().filename().string().starts_with("headers-")) {
        std::filesystem::remove_all(entry.path());
      }
    }
  }
  static const std::filesystem::path& path() {
    static const TemporaryDirectory directory("fresh-cache");
    return directory.path();
  }
};

} // namespace winnow::evaluators
