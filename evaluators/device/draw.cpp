#include "evaluators/device/draw.h"

#include <algorithm>
#include <bit>
#include <system_error>
#include <thread>
#include <tuple>
#include <vector>

namespace winnow::evaluators {
namespace {

constexpr std::uint64_t kElementsPerHostThread = std::uint64_t{1}
                                                 << 16U; // takes about a millisecond
constexpr std::uint64_t kMaxThreads = 16;

auto bits_of(const Draw& draw) {
  return std::tuple(draw.generator.kind, std::bit_cast<std::uint64_t>(draw.generator.a),
                    std::bit_cast<std::uint64_t>(draw.generator.b), draw.dtype, draw.seed,
                    draw.name_hash);
}

} // namespace

bool operator==(const Draw& one, const Draw& other) {
  return bits_of(one) == bits_of(other);
}

void draw_elements(const Draw& draw, std::span<std::byte> data) {
  const std::uint64_t element_bytes = tasks::size_bytes(draw.dtype);
  const std::uint64_t count = data.size() / element_bytes;
  const std::uint64_t cores =
      std::clamp<std::uint64_t>(std::thread::hardware_concurrency(), 1, kMaxThreads);
  const std::uint64_t threads = std::clamp<std::uint64_t>(count / kElementsPerHostThread, 1, cores);
  const std::uint64_t share = (count + threads - 1) / threads;
  const auto draw_from = [&](std::uint64_t first) {
    tasks::generate_elements(draw.generator, draw.dtype, draw.seed, draw.name_hash, first,
                             data.data() + first * element_bytes, std::min(share, count - first));
  };
  std::vector<std::jthread> others;
  for (std::uint64_t first = share; first < count; first += share) {
    try {
      others.emplace_back(draw_from, first);
    } catch (const std::system_error&) { // the system has no more threads for us
      draw_from(first);
    }
  }
  draw_from(0);
}

} // namespace winnow::evaluators
