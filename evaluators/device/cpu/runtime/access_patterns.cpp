#include "evaluators/device/cpu/runtime/access_patterns.h"

#include <algorithm>
#include <array>

namespace winnow::evaluators::cpu {
namespace {

constexpr unsigned kLanes = 32;
constexpr std::size_t kBanks = 32;
constexpr std::uint64_t kBankBytes = 4;
constexpr std::uint64_t kSectorBytes = 32;
constexpr unsigned kVectorBytes = 16;

/// The numbers of the units of `unit_bytes` bytes that the lanes touch, without duplicates.
std::vector<std::uint64_t> units_touched(std::span<const LaneAccess> access,
                                         std::uint64_t unit_bytes, unsigned first_lane,
                                         unsigned end_lane) {
  std::vector<std::uint64_t> units;
  for (const LaneAccess& one : access) {
    if (one.lane >= first_lane && one.lane < end_lane) {
      const std::uint64_t last = (one.address + one.bytes - 1) / unit_bytes;
      for (std::uint64_t unit = one.address / unit_bytes; unit <= last; ++unit) {
        units.push_back(unit);
      }
    }
  }
  std::sort(units.begin(), units.end());
  units.erase(std::unique(units.begin(), units.end()), units.end());
  return units;
}

unsigned lanes_at_a_time(std::span<const LaneAccess> access) {
  unsigned bytes = 0;
  for (const LaneAccess& one : access) {
    bytes = std::max<unsigned>(bytes, one.bytes);
  }
  return bytes > 8 ? kLanes / 4 : bytes > kBankBytes ? kLanes / 2 : kLanes;
}

} // namespace

SharedCost shared_cost(std::span<const LaneAccess> access) {
  SharedCost cost;
  const unsigned step = lanes_at_a_time(access);
  for (unsigned first = 0; first < kLanes; first += step) {
    std::array<std::uint64_t, kBanks> words{};
    for (const std::uint64_t word : units_touched(access, kBankBytes, first, first + step)) {
      ++words[word % kBanks];
    }
    const std::uint64_t wavefronts = *std::max_element(words.begin(), words.end());
    cost.wavefronts += wavefronts;
    cost.ideal += wavefronts != 0 ? 1 : 0;
  }
  return cost;
}

std::uint64_t global_sectors(std::span<const LaneAccess> access) {
  return units_touched(access, kSectorBytes, 0, kLanes).size();
}

bool extend_access(std::vector<LaneAccess>& access, std::span<const LaneAccess> next) {
  const auto continues = [](const LaneAccess& before, const LaneAccess& after) {
    const unsigned bytes = unsigned{before.bytes} + after.bytes;
    const std::uint64_t alignment = bytes > 8 ? kVectorBytes : bytes > kBankBytes ? 8 : kBankBytes;
    return before.lane == after.lane && before.address + before.bytes == after.address &&
           bytes <= kVectorBytes && before.address % alignment == 0;
  };
  if (!std::equal(access.begin(), access.end(), next.begin(), next.end(), continues)) {
    return false;
  }
  for (std::size_t i = 0; i < access.size(); ++i) {
    access[i].bytes = static_cast<std::uint8_t>(access[i].bytes + next[i].bytes);
  }
  return true;
}

} // namespace winnow::evaluators::cpu
