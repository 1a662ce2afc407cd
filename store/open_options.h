#pragma once

#include <chrono>
#include <cstdint>

namespace winnow::store {

enum class OpenMode : std::uint8_t { ReadWrite, ReadOnly };

struct OpenOptions {
  std::chrono::milliseconds busy_timeout{5000}; ///< how long to wait for another process
  std::int64_t max_pages = 0; ///< the file's largest size in SQLite pages; 0: no limit
};

} // namespace winnow::store
