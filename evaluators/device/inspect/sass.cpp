#include "evaluators/device/inspect/sass.h"

#include <charconv>
#include <cstdint>
#include <cstring>

namespace winnow::evaluators {
namespace {

constexpr std::size_t kInstructionBytes = 16;
constexpr int kFirstCapability = 70;

// Bits 0 to 8 are the operation, bits 9 to 11 the form of its operands.
constexpr std::uint64_t kOperationBits = 0x1ff;
constexpr std::uint64_t kCs2r = 0x005; // reads a special register; the cheap variant
constexpr std::uint64_t kS2r = 0x119;
constexpr std::uint64_t kS2ur = 0x1c3;  // to a uniform register
constexpr std::uint64_t kCs2ur = 0x0cb; // from sm_120 on
constexpr std::uint64_t kNanosleep = 0x15d;

// Bits 72 to 79 of the first four operations: the special register.
constexpr unsigned kSpecialRegisterShift = 8;
constexpr std::uint64_t kSpecialRegisterBits = 0xff;
constexpr std::uint64_t kClockLow = 0x50;
constexpr std::uint64_t kClockHigh = 0x51;
constexpr std::uint64_t kGlobalTimerLow = 0x52;
constexpr std::uint64_t kGlobalTimerHigh = 0x53;

void count_special_register(std::uint64_t number, SassCounts& counts) {
  if (number == kClockLow || number == kClockHigh) {
    ++counts.clock_reads;
  } else if (number == kGlobalTimerLow || number == kGlobalTimerHigh) {
    ++counts.global_timer_reads;
  }
}

} // namespace

SassCounts count_sass(std::string_view code) {
  SassCounts counts;
  for (; code.size() >= kInstructionBytes; code.remove_prefix(kInstructionBytes)) {
    std::uint64_t words[2];
    std::memcpy(words, code.data(), sizeof words);
    const std::uint64_t operation = words[0] & kOperationBits;
    if (operation == kNanosleep) {
      ++counts.sleeps;
    } else if (operation == kCs2r || operation == kS2r || operation == kS2ur ||
               operation == kCs2ur) {
      count_special_register((words[1] >> kSpecialRegisterShift) & kSpecialRegisterBits, counts);
    }
  }
  return counts;
}

bool has_known_sass(std::string_view architecture) {
  constexpr std::string_view kStart = "sm_";
  int capability = 0;
  if (architecture.substr(0, kStart.size()) != kStart) {
    return false;
  }
  std::from_chars(architecture.data() + kStart.size(), architecture.data() + architecture.size(),
                  capability);
  return capability >= kFirstCapability;
}

} // namespace winnow::evaluators
