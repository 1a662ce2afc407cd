#include "evaluators/device/cpu/runtime/memory_fault.h"

#include "evaluators/device/cpu/runtime/block_scheduler.h"
#include "evaluators/device/cpu/runtime/fiber.h"

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace winnow::evaluators::cpu {
namespace {

using tasks::Verdict;

constexpr std::uintptr_t kNullPageBytes = 64 << 10;
// Nothing else is mapped so near to a buffer (address_places.h).
constexpr std::size_t kFarBytes = std::size_t{64} << 30U;

/// The buffer or the dynamic shared memory to which an access at `address` belongs; null: to none.
const GuardedBuffer* owner_of(const BlockScheduler& scheduler, const GuardedBuffers& buffers,
                              const std::byte* address) {
  const GuardedBuffer* owner = buffers.nearest(address);
  const GuardedBuffer& shared = scheduler.shared();
  if (shared.zone != nullptr &&
      (owner == nullptr || distance_to(shared, address) < distance_to(*owner, address))) {
    owner = &shared;
  }
  return owner != nullptr && distance_to(*owner, address) < kFarBytes ? owner : nullptr;
}

std::string position_in(const GuardedBuffer& buffer, const std::byte* address) {
  if (address < buffer.data) {
    return fmt::format("{} bytes before its start", buffer.data - address);
  }
  return fmt::format("byte {} of {} bytes", address - buffer.data, buffer.bytes);
}

DeviceFault outside_of(const GuardedBuffer& owner, bool shared, const std::string& who,
                       const std::byte* address, std::string_view verb) {
  const bool inside = address >= owner.data && address < owner.data + owner.bytes;
  if (owner.read_only && inside) {
    return {Verdict::ModifiedInput,
            fmt::format("{} writes input '{}' at byte {}", who, owner.name, address - owner.data)};
  }
  const std::string place = position_in(owner, address);
  if (shared) {
    return {Verdict::OutOfBounds,
            fmt::format("{} {} outside of dynamic shared memory: {} (the launch's shared_bytes)",
                        who, verb, place)};
  }
  return {Verdict::OutOfBounds,
          fmt::format("{} {} outside of buffer '{}': {}", who, verb, owner.name, place)};
}

} // namespace

DeviceFault memory_fault(const BlockScheduler& scheduler, const GuardedBuffers& buffers,
                         const std::byte* address, std::string_view verb) {
  const std::string who = scheduler.where();
  if (scheduler.stack_guard_contains(address)) {
    return {Verdict::Crashed,
            fmt::format("{} overflows its stack of {} KiB: recursion without end, or large local "
                        "arrays",
                        who, kFiberStackBytes >> 10)};
  }
  if (const GuardedBuffer* owner = owner_of(scheduler, buffers, address); owner != nullptr) {
    return outside_of(*owner, owner == &scheduler.shared(), who, address, verb);
  }
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  if (value < kNullPageBytes) {
    return {Verdict::OutOfBounds,
            fmt::format("{} {} through a null pointer (address {:#x})", who, verb, value)};
  }
  return {Verdict::OutOfBounds,
          fmt::format("{} {} address {:#x}, which is in no buffer", who, verb, value)};
}

} // namespace winnow::evaluators::cpu
