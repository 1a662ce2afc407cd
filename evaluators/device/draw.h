#pragma once

#include "tasks/inputs/input_generator.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace winnow::evaluators {

/// How the elements of a buffer are drawn. A Draw and the number of elements determine every bit.
struct Draw {
  tasks::GeneratorSpec generator;
  tasks::DType dtype = tasks::DType::F32;
  std::uint64_t seed = 0;
  std::uint64_t name_hash = 0; ///< tasks::hash_name() of the tensor's name
};
/// Compares bit for bit: a generator with -0.0 instead of 0.0 draws other bytes.
bool operator==(const Draw& one, const Draw& other);

/// Fills `data` with whole elements, on as many cores as pay off. Any thread.
void draw_elements(const Draw& draw, std::span<std::byte> data);

} // namespace winnow::evaluators
