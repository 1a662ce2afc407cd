#include "evaluators/device/cpu/runtime/memory_fault.h"

#include "evaluators/device/cpu/runtime/block_scheduler.h"
#include "evaluators/device/cpu/runtime/fiber.h"

#include <cstdint>
#include <cstring>
#include <string>

#include <fmt/format.h>

namespace winnow::evaluators::cpu {
namespace {

using tasks::Verdict;

constexpr std::uintptr_t kNullPageBytes = 64 << 10;
// Nothing else is mapped so near to a buffer (take_place()).
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

namespace {

// Numbers of registers in instructions: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
constexpr int kRegisters[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                              REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                              REG_R12, REG_R13, REG_R14, REG_R15};
constexpr unsigned kHasSib = 4;  // as the number of the base
constexpr unsigned kNoIndex = 4; // as the number of the index
constexpr unsigned kNoBase = 5;  // as the number of the base, in mode 0

/// Bits 3 of the numbers of index and base.
struct Extension {
  unsigned index = 0;
  unsigned base = 0;
};

bool is_prefix(unsigned byte) {
  return std::strchr("\x66\xf2\xf3\x2e\x36\x3e\x26\x64\x65\x67\xf0", static_cast<int>(byte)) !=
             nullptr &&
         byte != 0;
}

/// Goes to the byte behind the opcode.
Extension skip_opcode(const unsigned char*& at) {
  while (is_prefix(*at)) {
    ++at;
  }
  Extension extension;
  if (*at == 0xc5) { // VEX of two bytes
    at += 3;
    return extension;
  }
  if (*at == 0xc4) { // VEX of three bytes; its bits are inverted
    extension = {(~at[1] >> 6U & 1U) * 8, (~at[1] >> 5U & 1U) * 8};
    at += 4;
    return extension;
  }
  if ((*at & 0xf0U) == 0x40) { // REX
    extension = {(*at >> 1U & 1U) * 8, (*at & 1U) * 8};
    ++at;
  }
  if (*at++ == 0x0f) {
    at += *at == 0x38 || *at == 0x3a ? 2 : 1;
  }
  return extension;
}

} // namespace

std::optional<std::uintptr_t> operand_address(const ucontext_t& context) {
  const auto& registers = context.uc_mcontext.gregs;
  const auto value = [&](unsigned number) {
    return static_cast<std::uintptr_t>(registers[kRegisters[number]]);
  };
  const auto* at = reinterpret_cast<const unsigned char*>(registers[REG_RIP]); // NOLINT
  const Extension extension = skip_opcode(at);
  const unsigned mode = *at >> 6U;
  unsigned base = *at++ & 7U;
  std::uintptr_t address = 0;
  if (mode == 3 || (mode == 0 && base == kNoBase)) { // a register, or relative to the code
    return std::nullopt;
  }
  if (base == kHasSib) {
    const unsigned sib = *at++;
    const unsigned index = (sib >> 3U & 7U) + extension.index;
    base = sib & 7U;
    address = index == kNoIndex ? 0 : value(index) << (sib >> 6U);
  }
  const bool has_base = mode != 0 || base != kNoBase;
  address += has_base ? value(base + extension.base) : 0;
  std::int32_t displacement = 0;
  if (mode == 1) {
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): the byte has a sign
    displacement = static_cast<signed char>(*at);
  } else if (mode == 2 || !has_base) {
    std::memcpy(&displacement, at, sizeof(displacement));
  }
  return address + static_cast<std::uintptr_t>(std::intptr_t{displacement});
}

bool is_beyond_all_pages(std::uintptr_t address) {
  const std::uintptr_t high = address >> 47U;
  return high != 0 && high != ~std::uintptr_t{0} >> 47U;
}

} // namespace winnow::evaluators::cpu
