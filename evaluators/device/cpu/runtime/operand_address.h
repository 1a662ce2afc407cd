#pragma once

#include <cstdint>
#include <optional>

#include <ucontext.h>

namespace winnow::evaluators::cpu {

/// The address of the memory operand of the instruction at which a signal stopped a thread. For an
/// address of more than 48 bits the processor tells none, and raises the same fault as for a
/// misaligned vector access. nullopt: the instruction has no such operand, or this is no x86-64.
std::optional<std::uintptr_t> operand_address(const ucontext_t& context);

/// Whether no page can have this address: it needs more than 48 bits.
bool is_beyond_all_pages(std::uintptr_t address);

} // namespace winnow::evaluators::cpu
