#pragma once

#include "tasks/task/task.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace winnow::tasks {

/// Bytes on the heap that have no value until they are written: a tensor has gigabytes, and several
/// threads fill it.
class HostBytes {
public:
  HostBytes() = default;
  explicit HostBytes(std::size_t size) { resize(size); }
  HostBytes(const HostBytes& other);
  HostBytes(HostBytes&& other) noexcept { swap(other); }
  HostBytes& operator=(HostBytes other) noexcept {
    swap(other);
    return *this;
  }
  ~HostBytes() = default;

  /// Keeps no values, unless the size stays.
  void resize(std::size_t size);
  void swap(HostBytes& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::byte* data() { return bytes_.get(); }
  [[nodiscard]] const std::byte* data() const { return bytes_.get(); }
  [[nodiscard]] std::byte* begin() { return data(); }
  [[nodiscard]] std::byte* end() { return data() + size_; }
  [[nodiscard]] const std::byte* begin() const { return data(); }
  [[nodiscard]] const std::byte* end() const { return data() + size_; }
  std::byte& operator[](std::size_t i) { return bytes_[i]; }
  const std::byte& operator[](std::size_t i) const { return bytes_[i]; }

private:
  std::unique_ptr<std::byte[]> bytes_; // NOLINT(modernize-avoid-c-arrays)
  std::size_t size_ = 0;
};

bool operator==(const HostBytes& left, const HostBytes& right);

/// A tensor in the memory of this process: row-major elements of `dtype`.
struct HostTensor {
  DType dtype = DType::F32;
  std::vector<std::int64_t> extents; ///< empty: one element
  HostBytes bytes;

  std::int64_t count() const;
  double at(std::int64_t index) const;
  void set(std::int64_t index, double value); ///< rounds as store_element() does
};
using HostTensors = std::map<std::string, HostTensor>;

/// The extents of the tensor at a shape; a scalar tensor has one extent. Throws ExpressionError.
std::vector<std::int64_t> extents_of(const TensorSpec& tensor, const Task& task,
                                     const Shape& shape);

/// A tensor whose bytes have no value yet.
HostTensor unset_tensor(const TensorSpec& tensor, const Task& task, const Shape& shape);

/// All input and inout tensors, filled by generate_tensor().
HostTensors draw_inputs(const Task& task, const Shape& shape, std::uint64_t seed);

} // namespace winnow::tasks
