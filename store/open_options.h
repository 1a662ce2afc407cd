#pragma once

#include <chrono>
#include <cstdint>

namespace winnow::store {

enum class OpenMode : std::uint8_t { ReadWrite, ReadOnly };

struct OpenOptions {
  std::chrono::milliseconds busy_timeout{5000}; ///< longest wait for another process's lock
  std::int64_t max_pages = 0; ///< maximum size of the file in SQLite pages; 0: no limit
};

} // namespace winnow::store
