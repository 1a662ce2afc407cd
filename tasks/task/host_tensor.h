#pragma once

#include "tasks/task/task.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace winnow::tasks {

/// Gives the elements of a vector no value when it grows: tensors have gigabytes, and several
/// threads fill them.
template <typename T> struct UnsetAllocator : std::allocator<T> {
  template <typename U> struct rebind { using other = UnsetAllocator<U>; };
  template <typename U> void construct(U* place) noexcept { ::new (static_cast<void*>(place)) U; }
  template <typename U, typename... Arguments> void construct(U* place, Arguments&&... arguments) {
    std::construct_at(place, std::forward<Arguments>(arguments)...);
  }
};

using HostBytes = std::vector<std::byte, UnsetAllocator<std::byte>>;

/// A tensor in the memory of this process: row-major elements of `dtype`.
struct HostTensor {
  DType dtype = DType::F32;
  std::vector<std::int64_t> extents; ///< empty: one element
  HostBytes bytes;

  std::int64_t count() const;
  double at(std::int64_t index) const;
  void set(std::int64_t index, double value); ///< rounds as store_element() does
};
/// The least number of elements that justifies a thread in a parallel loop.
constexpr std::uint64_t kElementsPerThread = std::uint64_t{1} << 16U;
using HostTensors = std::map<std::string, HostTensor>;

/// The extents of the tensor at a shape; a scalar tensor has one extent. Throws ExpressionError.
std::vector<std::int64_t> extents_of(const TensorSpec& tensor, const Task& task,
                                     const Shape& shape);

/// A tensor whose bytes have no value yet.
HostTensor unset_tensor(const TensorSpec& tensor, const Task& task, const Shape& shape);

/// All input and inout tensors, filled by generate_tensor().
HostTensors draw_inputs(const Task& task, const Shape& shape, std::uint64_t seed);

} // namespace winnow::tasks
