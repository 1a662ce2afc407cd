#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

namespace winnow {

namespace {
constexpr std::uint64_t kMaxThreads = 16;
constexpr std::uint64_t kBytesPerThread = std::uint64_t{4} << 20U; // about a millisecond
} // namespace

void in_parts(std::uint64_t count, std::uint64_t least,
              const std::function<void(std::uint64_t first, std::uint64_t end)>& work) {
  const std::uint64_t cores =
      std::clamp<std::uint64_t>(std::thread::hardware_concurrency(), 1, kMaxThreads);
  const std::uint64_t threads = std::clamp<std::uint64_t>(count / least, 1, cores);
  const std::uint64_t share = (count + threads - 1) / threads;
  std::vector<std::jthread> others;
  for (std::uint64_t first = share; first < count; first += share) {
    const std::uint64_t end = std::min(first + share, count);
    try {
      others.emplace_back(work, first, end);
    } catch (const std::system_error&) { // the system cannot start another thread
      work(first, end);
    }
  }
  work(0, std::min(share, count));
}

void copy_in_parts(std::span<const std::byte> from, std::span<std::byte> to) {
  in_parts(from.size(), kBytesPerThread, [&](std::uint64_t first, std::uint64_t end) {
    std::memcpy(to.data() + first, from.data() + first, end - first);
  });
}

bool equal_in_parts(std::span<const std::byte> left, std::span<const std::byte> right) {
  if (left.size() != right.size() || left.empty()) {
    return left.size() == right.size();
  }
  std::atomic<bool> equal = true;
  in_parts(left.size(), kBytesPerThread, [&](std::uint64_t first, std::uint64_t end) {
    if (std::memcmp(left.data() + first, right.data() + first, end - first) != 0) {
      equal = false;
    }
  });
  return equal;
}

} // namespace winnow
