#pragma once

#include "tasks/task.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace winnow::tasks {

/// A tensor in this process's memory: row-major elements of `dtype`.
struct HostTensor {
  DType dtype = DType::F32;
  std::vector<std::int64_t> extents; ///< empty: one element
  std::vector<std::byte> bytes;

  std::int64_t count() const;
  double at(std::int64_t index) const;
  void set(std::int64_t index, double value); ///< rounded as store_element() does
};
/// Of a loop over a tensor on several cores: fewer are not worth a thread.
constexpr std::uint64_t kElementsPerThread = std::uint64_t{1} << 16U;
using HostTensors = std::map<std::string, HostTensor>;

/// The tensor's extents at a shape; at least one. Throws ExpressionError.
std::vector<std::int64_t> extents_of(const TensorSpec& tensor, const Task& task,
                                     const Shape& shape);

/// All bytes 0.
HostTensor blank_tensor(const TensorSpec& tensor, const Task& task, const Shape& shape);

/// What generate_tensor() draws for every input and inout.
HostTensors draw_inputs(const Task& task, const Shape& shape, std::uint64_t seed);

} // namespace winnow::tasks
