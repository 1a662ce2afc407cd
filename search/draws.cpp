#include "search/draws.h"

#include <algorithm>

namespace winnow::search {
namespace {

std::uint64_t mixed(std::uint64_t seed, std::string_view task, std::uint64_t calls) {
  std::uint64_t hash = 0xcbf29ce484222325U ^ seed; // FNV-1a
  const auto add = [&](std::uint64_t byte) { hash = (hash ^ byte) * 0x100000001b3U; };
  for (const char letter : task) {
    add(static_cast<unsigned char>(letter));
  }
  for (unsigned shift = 0; shift < 64; shift += 8) {
    add((calls >> shift) & 0xffU);
  }
  return hash;
}

} // namespace

Draws::Draws(std::uint64_t seed, std::string_view task, std::size_t calls)
    : random_(mixed(seed, task, calls)) {}

// Not a distribution of the standard library: each library may compute another number.
double Draws::next() {
  constexpr double kScale = 1.0 / 9007199254740992.0; // 2^-53
  return static_cast<double>(random_() >> 11U) * kScale;
}

std::size_t Draws::index(std::size_t count) {
  return std::min(static_cast<std::size_t>(next() * static_cast<double>(count)), count - 1);
}

} // namespace winnow::search
