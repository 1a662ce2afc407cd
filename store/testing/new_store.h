#pragma once

#include "base/files.h"
#include "store/run_store.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace winnow::store::testing {

/// Writes what RunStore makes of a path where nothing is, unless a file is there. All migrations
/// take 40 ms: in a test program they run once.
inline void put_new_store(const std::filesystem::path& path) {
  static const std::string bytes = [] {
    const TemporaryDirectory folder("new-store");
    const std::filesystem::path file = folder.path() / "store.db";
    // Closed at once, so that all is in this file.
    static_cast<void>(RunStore(file, RunStore::Mode::ReadWrite));
    return read_file(file, std::uint64_t{1} << 24U);
  }();
  if (!std::filesystem::exists(path)) {
    write_file_atomic(path, bytes, Readers::Owner);
  }
}

} // namespace winnow::store::testing
