#include "evaluators/device/cpu/runtime/address_places.h"

#include "base/random_bits.h"

#include <bitset>
#include <cstdint>
#include <mutex>

namespace winnow::evaluators::cpu {
namespace {

// Systems with addresses of 48 bits put programs, heaps, libraries and stacks elsewhere.
constexpr std::uintptr_t kFirstPlace = std::uintptr_t{0x11} << 40U;
constexpr std::size_t kPlaces = 512;
constexpr std::uintptr_t kPlaceBytes = std::uintptr_t{128} << 30U;
// A mapping begins in the first quarter of its place and has at most a quarter's size. So at least
// half a place is free behind it, and half a place before it.
constexpr std::uintptr_t kQuarter = kPlaceBytes / 4;
constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20U; // keeps mappings fit for huge pages

std::mutex g_mutex;
std::bitset<kPlaces> g_taken;

} // namespace

void* take_place(std::size_t bytes) {
  if (bytes > kQuarter) {
    return nullptr;
  }
  const std::uint64_t draw = random_bits();
  const std::uintptr_t shift = (draw >> 32U) % (kQuarter / kHugePage) * kHugePage;
  const std::lock_guard lock(g_mutex);
  for (std::size_t i = 0; i < kPlaces; ++i) {
    const std::size_t place = (draw + i) % kPlaces;
    if (!g_taken[place]) {
      g_taken.set(place);
      return reinterpret_cast<void*>(kFirstPlace + place * kPlaceBytes + shift); // NOLINT
    }
  }
  return nullptr;
}

void free_place(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (at >= kFirstPlace && at < kFirstPlace + kPlaces * kPlaceBytes) {
    const std::lock_guard lock(g_mutex);
    g_taken.reset((at - kFirstPlace) / kPlaceBytes);
  }
}

} // namespace winnow::evaluators::cpu
