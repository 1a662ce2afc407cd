#pragma once

#include "base/parallel.h"

#include <cstddef>
#include <exception>
#include <mutex>

namespace winnow::lab {

/// Calls `work(i)` for each i below `count`, on all cores; throws the last exception.
template <typename Work> void parallel_for(std::size_t count, const Work& work) {
  std::mutex mutex;
  std::exception_ptr failure;
  in_parts(count, 1, [&](std::uint64_t first, std::uint64_t end) {
    try {
      for (std::uint64_t i = first; i < end; ++i) {
        work(static_cast<std::size_t>(i));
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  });
  if (failure) {
    std::rethrow_exception(failure);
  }
}

} // namespace winnow::lab
