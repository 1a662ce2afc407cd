#pragma once

#include "tasks/task.h"

#include <cstdint>
#include <string_view>

namespace winnow::tasks {

/// Element `index` of tensor `tensor` under `seed`: a pure function, identical to the bit
/// everywhere (counter-based: Philox 4x32-10 keyed by seed and the tensor's name; integer
/// arithmetic and correctly rounded operations only, no libm).
double generate_element(const GeneratorSpec& spec, std::uint64_t seed, std::string_view tensor,
                        std::uint64_t index);

/// Stands for the tensor's name in the counter (core::RandomStream in generator_core.h, which has
/// the arithmetic and is also device code).
std::uint64_t hash_name(std::string_view tensor);

/// Fills `data` (count elements of `dtype`) with what generate_element gives, on several cores
/// where that is worth it.
void generate_tensor(const GeneratorSpec& spec, DType dtype, std::uint64_t seed,
                     std::string_view tensor, void* data, std::uint64_t count);

/// A part of it: elements [first, first + count) of the tensor whose name hashes to `name_hash`.
void generate_elements(const GeneratorSpec& spec, DType dtype, std::uint64_t seed,
                       std::uint64_t name_hash, std::uint64_t first, void* data,
                       std::uint64_t count);

} // namespace winnow::tasks
