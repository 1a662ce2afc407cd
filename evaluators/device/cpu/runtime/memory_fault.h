#pragma once

#include "evaluators/device/cpu/runtime/guarded_buffers.h"
#include "evaluators/device/device_fault.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <ucontext.h>

namespace winnow::evaluators::cpu {

class BlockScheduler;

/// The fault of the running thread that `verb` ("reads") an address which it may not touch.
DeviceFault memory_fault(const BlockScheduler& scheduler, const GuardedBuffers& buffers,
                         const std::byte* address, std::string_view verb);

/// The address of the memory operand of the instruction at which a signal stopped a thread. For an
/// address of more than 48 bits the processor tells none, and raises the same fault as for a
/// misaligned vector access. nullopt: the instruction has no such operand.
std::optional<std::uintptr_t> operand_address(const ucontext_t& context);

/// Whether no page can have this address: it needs more than 48 bits.
bool is_beyond_all_pages(std::uintptr_t address);

} // namespace winnow::evaluators::cpu
