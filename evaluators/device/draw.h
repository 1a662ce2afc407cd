#pragma once

#include "tasks/inputs/input_generator.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace winnow::evaluators {

/// How the elements of a buffer are drawn: with their number it decides every bit.
struct Draw {
  tasks::GeneratorSpec generator;
  tasks::DType dtype = tasks::DType::F32;
  std::uint64_t seed = 0;
  std::uint64_t name_hash = 0; ///< tasks::hash_name() of the tensor's name
};
/// To the bit: a generator with another zero draws other bytes.
bool operator==(const Draw& one, const Draw& other);

/// Fills `data`, whole elements, on as many cores as are worth it. Any thread.
void draw_elements(const Draw& draw, std::span<std::byte> data);

} // namespace winnow::evaluators
