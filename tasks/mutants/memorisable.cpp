#include "tasks/mutants/memorisable.h"

#include "tasks/inputs/input_generator.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace winnow::tasks {
namespace {

constexpr std::uint64_t kSeeds[] = {1, 2};
constexpr std::uint64_t kBlock = 4096; // elements
constexpr std::uint64_t kMostBlocks = 256;

std::vector<std::byte> draw(const TensorSpec& tensor, const Shape& shape, std::uint64_t seed,
                            std::uint64_t first, std::uint64_t count) {
  std::vector<std::byte> bytes(count * size_bytes(tensor.dtype));
  generate_elements(generator_at(tensor, shape), tensor.dtype, seed, hash_name(tensor.name), first,
                    bytes.data(), count);
  return bytes;
}

bool differs_in(const TensorSpec& tensor, const Shape& shape, std::uint64_t block) {
  const auto elements = static_cast<std::uint64_t>(element_count(tensor, shape));
  const std::uint64_t first = block * kBlock;
  if (tensor.role == Role::Output || tensor.is_static || first >= elements) {
    return false;
  }
  if (is_computed(tensor)) {
    return true; // from random numbers
  }
  const std::uint64_t count = std::min(kBlock, elements - first);
  return draw(tensor, shape, kSeeds[0], first, count) !=
         draw(tensor, shape, kSeeds[1], first, count);
}

/// Compares block by block over all tensors: a random input ends the search early, before long
/// constant inputs cost time.
bool some_input_differs(const Task& task, const Shape& shape) {
  for (std::uint64_t block = 0; block < kMostBlocks; ++block) {
    if (std::any_of(task.tensors.begin(), task.tensors.end(),
                    [&](const TensorSpec& tensor) { return differs_in(tensor, shape, block); })) {
      return true;
    }
  }
  return false;
}

} // namespace

std::string why_timings_can_be_memorised(const Task& task, std::string_view device_kind) {
  for (const Shape& shape : task.shapes_of(ShapeSet::Search, device_kind)) {
    if (!some_input_differs(task, shape)) {
      return "its timings can be memorised: no input differs from launch to launch at " + shape.id;
    }
  }
  return {};
}

} // namespace winnow::tasks
