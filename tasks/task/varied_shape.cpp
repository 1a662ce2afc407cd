#include "tasks/task/varied_shape.h"

#include "base/digest.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

constexpr std::int64_t kSmall = 16; ///< a size below it has no eighth worth drawing from

/// The sizes of an axis: multiples of `step` from `low` to `high`.
struct SizeRange {
  std::int64_t low = 1, high = 1, step = 1;

  std::int64_t at(std::uint64_t lot) const {
    const std::int64_t first = (low + step - 1) / step, last = high / step;
    const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(last - first + 1, 1));
    return (first + static_cast<std::int64_t>(lot % count)) * step;
  }
};

SizeRange range_around(std::int64_t size, std::int64_t largest) {
  if (size < kSmall) {
    return {(size + 1) / 2, std::min(2 * size, largest), 1};
  }
  const std::int64_t power_of_two = size & -size;
  const std::int64_t step = std::min(power_of_two, kSmall);
  const std::int64_t reach = std::max(size / 8, step);
  return {std::max(size - reach, step), std::min(size + reach, largest), step};
}

std::uint64_t lot(std::uint64_t draw, const std::string& what) {
  constexpr int kHexadecimal = 16;
  const std::string digest = sha256_hex(fmt::format("{} {}", draw, what)).substr(0, kHexadecimal);
  return std::stoull(digest, nullptr, kHexadecimal);
}

/// Of all tensors; infinite if the shape cannot be.
double bytes_at(const Task& task, const Shape& shape) {
  try {
    double bytes = 0;
    for (const TensorSpec& tensor : task.tensors) {
      bytes += tensor_bytes(tensor, shape);
      generator_at(tensor, shape);
    }
    return bytes;
  } catch (const ExpressionError&) {
    return std::numeric_limits<double>::infinity();
  }
}

} // namespace

Shape varied_shape(const Task& task, std::string_view device, Shape shape, std::uint64_t draw) {
  constexpr int kTries = 16;
  std::map<std::string, std::int64_t> largest;
  double most_bytes = 0;
  for (const ShapeSet set : {ShapeSet::Search, ShapeSet::Promotion}) {
    for (const Shape& known : task.shapes_of(set, device)) {
      most_bytes = std::max(most_bytes, bytes_at(task, known));
      for (const auto& [axis, size] : known.axes) {
        largest[axis] = std::max(largest[axis], size);
      }
    }
  }
  for (int i = 0; i < kTries; ++i) {
    Shape varied = shape;
    for (const std::string& axis : task.varied_axes) {
      varied.axes[axis] = range_around(shape.axes.at(axis), largest[axis])
                              .at(lot(draw, fmt::format("{} {} {}", shape.id, axis, i)));
    }
    if (bytes_at(task, varied) <= most_bytes) {
      return varied;
    }
  }
  return shape;
}

} // namespace winnow::tasks
