#pragma once

#include "tasks/task.h"

#include <cstdint>
#include <string_view>

namespace winnow::tasks {

/// Element `index` of `tensor` under `seed`: a pure function with identical bits on every machine.
/// The generator is counter-based: Philox 4x32-10, keyed by the seed and the tensor's name. The
/// function uses only integer arithmetic and correctly rounded operations, no libm.
double generate_element(const GeneratorSpec& spec, std::uint64_t seed, std::string_view tensor,
                        std::uint64_t index);

/// The hash that stands for the tensor's name in core::RandomStream (generator_core.h).
std::uint64_t hash_name(std::string_view tensor);

/// Fills `data` with `count` elements of `dtype` from generate_element(). Large tensors use several
/// cores.
void generate_tensor(const GeneratorSpec& spec, DType dtype, std::uint64_t seed,
                     std::string_view tensor, void* data, std::uint64_t count);

/// Fills `data` with the elements [first, first + count) of a tensor. `name_hash` is the
/// hash_name() of the tensor.
void generate_elements(const GeneratorSpec& spec, DType dtype, std::uint64_t seed,
                       std::uint64_t name_hash, std::uint64_t first, void* data,
                       std::uint64_t count);

} // namespace winnow::tasks
