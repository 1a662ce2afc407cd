#pragma once

#include "tasks/inputs/dtype.h"
#include "tasks/inputs/generator_core.h"

#include <cstdint>
#include <string_view>

namespace winnow::tasks {

/// Element `index` of `tensor` under `seed`: a pure function with identical bits on every machine.
/// The generator is counter-based: Philox 4x32-10, keyed by the seed and the tensor's name. The
/// function uses only integer arithmetic and correctly rounded operations, no libm.
double generate_element(const GeneratorSpec& spec, std::uint64_t seed, std::string_view tensor,
                        std::uint64_t index);

/// The generator with a number for each range: a pure function of the upper 32 bits of the seed and
/// the tensor's name, with identical bits on every machine. All contestants of a turn share these
/// bits (launch_seed() in evaluators/messages/protocol.h), so what is drawn decides no race.
DrawnGenerator drawn(const GeneratorSpec& spec, std::uint64_t seed, std::uint64_t name_hash);

/// A seed whose halves both change from number to number: 1, 2, 3 alone would all have the upper
/// half 0, and so the same drawn().
std::uint64_t spread_seed(std::uint64_t number);

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
