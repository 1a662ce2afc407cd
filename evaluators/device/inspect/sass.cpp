#include "evaluators/device/inspect/sass.h"

#include "tasks/plan/architecture.h"

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
constexpr std::uint64_t kHmma = 0x03c; // products of a warp; on sm_90 those of FP8, too
constexpr std::uint64_t kImma = 0x037;
constexpr std::uint64_t kDmma = 0x03f;
constexpr std::uint64_t kQmma = 0x07a;  // of FP8, from sm_120 on
constexpr std::uint64_t kHgmma = 0x1f0; // products of a warp group: sm_90a only
constexpr std::uint64_t kIgmma = 0x1f1;
constexpr std::uint64_t kQgmma = 0x1f3;
constexpr std::uint64_t kUtcMma = 0x1ea;   // tcgen05.mma: sm_100a and its relatives
constexpr std::uint64_t kLdgsts = 0x1ae;   // cp.async
constexpr std::uint64_t kUtmaLoad = 0x1b4; // bulk copies with tensor maps
constexpr std::uint64_t kUtmaStore = 0x1b5;
constexpr std::uint64_t kUtmaReduce = 0x1b6;
constexpr std::uint64_t kUblkcp = 0x1ba; // bulk copies without tensor maps

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

/// The count to which an operation adds without regard to its operands; nullptr: none.
std::size_t* class_of(std::uint64_t operation, SassCounts& counts) {
  switch (operation) {
  case kNanosleep:
    return &counts.sleeps;
  case kHmma:
  case kImma:
  case kDmma:
  case kQmma:
    return &counts.warp_products;
  case kHgmma:
  case kIgmma:
  case kQgmma:
    return &counts.group_products;
  case kUtcMma:
    return &counts.block_products;
  case kLdgsts:
    return &counts.thread_copies;
  case kUtmaLoad:
  case kUtmaStore:
  case kUtmaReduce:
  case kUblkcp:
    return &counts.bulk_copies;
  default:
    return nullptr;
  }
}

} // namespace

SassCounts& SassCounts::operator+=(const SassCounts& other) {
  clock_reads += other.clock_reads;
  global_timer_reads += other.global_timer_reads;
  sleeps += other.sleeps;
  warp_products += other.warp_products;
  group_products += other.group_products;
  block_products += other.block_products;
  thread_copies += other.thread_copies;
  bulk_copies += other.bulk_copies;
  return *this;
}

SassCounts count_sass(std::string_view code) {
  SassCounts counts;
  for (; code.size() >= kInstructionBytes; code.remove_prefix(kInstructionBytes)) {
    std::uint64_t words[2];
    std::memcpy(words, code.data(), sizeof words);
    const std::uint64_t operation = words[0] & kOperationBits;
    if (std::size_t* count = class_of(operation, counts)) {
      ++*count;
    } else if (operation == kCs2r || operation == kS2r || operation == kS2ur ||
               operation == kCs2ur) {
      count_special_register((words[1] >> kSpecialRegisterShift) & kSpecialRegisterBits, counts);
    }
  }
  return counts;
}

bool has_known_sass(std::string_view architecture) {
  return tasks::compute_capability(architecture) >= kFirstCapability;
}

} // namespace winnow::evaluators
