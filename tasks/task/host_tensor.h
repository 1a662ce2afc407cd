#pragma once

#include "tasks/task/task.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace winnow::tasks {

/// A tensor in the memory of this process: row-major elements of `dtype`.
struct HostTensor {
  DType dtype = DType::F32;
  std::vector<std::int64_t> extents; ///< empty: one element
  std::vector<std::byte> bytes;

  std::int64_t count() const;
  double at(std::int64_t index) const;
  void set(std::int64_t index, double value); ///< rounds as store_element() does
};
using HostTensors = std::map<std::string, HostTensor>;

/// The extents of the tensor at a shape; a scalar tensor has one extent. Throws ExpressionError.
std::vector<std::int64_t> extents_of(const TensorSpec& tensor, const Task& task,
                                     const Shape& shape);

/// A tensor with all bytes 0.
HostTensor blank_tensor(const TensorSpec& tensor, const Task& task, const Shape& shape);

/// All input and inout tensors, filled by generate_tensor().
HostTensors draw_inputs(const Task& task, const Shape& shape, std::uint64_t seed);

} // namespace winnow::tasks
