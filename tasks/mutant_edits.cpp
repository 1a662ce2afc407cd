#include "tasks/mutant_edits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace winnow::tasks {
namespace {

constexpr std::int64_t kShortestBlock = 32;
constexpr std::int64_t kLongestBlock = 256;
// Changes one element in about 1000. The stride is a prime that divides no usual row length, so
// that the changed elements lie in different columns.
constexpr std::int64_t kLeftOutStride = 1019;

std::byte pattern_byte(std::uint64_t pattern, std::size_t offset) {
  return static_cast<std::byte>(pattern >> (offset % sizeof pattern * 8U));
}

} // namespace

std::string keep_first(HostTensor& tensor, std::size_t axis, std::int64_t kept) {
  const std::int64_t extent = tensor.extents.at(axis);
  if (kept >= extent) {
    return "the axis has no more elements than the mutant keeps";
  }
  std::int64_t inner = 1;
  for (std::size_t d = axis + 1; d < tensor.extents.size(); ++d) {
    inner *= tensor.extents[d];
  }
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    if (i / inner % extent >= kept) {
      tensor.set(i, 0);
    }
  }
  return "";
}

std::int64_t without_last_eighth(std::int64_t extent) {
  return extent - std::max<std::int64_t>(1, extent / 8);
}

std::string skip_block(HostTensor& tensor) {
  const std::int64_t count = tensor.count();
  if (count < 2 * kShortestBlock) {
    return "fewer than 64 elements";
  }
  const std::int64_t length = std::clamp(count / 8, kShortestBlock, kLongestBlock);
  const std::int64_t first = (count - length) / 2;
  for (std::int64_t i = first; i < first + length; ++i) {
    tensor.set(i, 0);
  }
  return "";
}

std::string leave_out(HostTensor& tensor, bool scaled) {
  const std::int64_t count = tensor.count();
  if (count < 2) {
    return "the tensor has one element: leaving it out leaves nothing";
  }
  double sum = 0;
  for (std::int64_t i = 0; scaled && i < count; ++i) {
    sum += i % kLeftOutStride == 0 ? 0 : tensor.at(i);
  }
  const std::int64_t left = count - (count + kLeftOutStride - 1) / kLeftOutStride;
  const std::vector<std::byte> before = tensor.bytes;
  for (std::int64_t i = 0; i < count; i += kLeftOutStride) {
    tensor.set(i, sum / static_cast<double>(left));
  }
  return tensor.bytes == before ? "the elements that the mutant leaves out already have that value"
                                : "";
}

void copy_left_out(const HostTensor& from, HostTensor& tensor) {
  const auto size = static_cast<std::int64_t>(size_bytes(tensor.dtype));
  for (std::int64_t i = 0; i < tensor.count(); i += kLeftOutStride) {
    std::memcpy(tensor.bytes.data() + i * size, from.bytes.data() + i * size,
                static_cast<std::size_t>(size));
  }
}

std::string transpose(HostTensor& tensor) {
  const std::size_t rank = tensor.extents.size();
  const std::int64_t columns = rank < 2 ? 1 : tensor.extents[rank - 1];
  const std::int64_t rows = rank < 2 ? 1 : tensor.extents[rank - 2];
  if (rows == 1 || columns == 1) {
    return "one row or one column";
  }
  const std::vector<std::byte> original = tensor.bytes;
  const std::size_t size = size_bytes(tensor.dtype);
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const std::int64_t within = i % (rows * columns);
    const std::int64_t source = i - within + within % columns * rows + within / columns;
    std::memcpy(tensor.bytes.data() + static_cast<std::size_t>(i) * size,
                original.data() + static_cast<std::size_t>(source) * size, size);
  }
  return "";
}

std::string poison_tail(HostTensor& tensor, std::uint64_t pattern) {
  const auto kept = static_cast<std::size_t>(without_last_eighth(tensor.count()));
  for (std::size_t i = kept * size_bytes(tensor.dtype); i < tensor.bytes.size(); ++i) {
    tensor.bytes[i] = pattern_byte(pattern, i);
  }
  return "";
}

std::string lay_out_for(HostTensor& tensor, std::int64_t row_elements, std::uint64_t pattern) {
  const std::int64_t columns = tensor.extents.back();
  const std::int64_t total = tensor.count();
  const std::size_t size = size_bytes(tensor.dtype);
  std::vector<std::byte> laid_out(tensor.bytes.size());
  for (std::size_t i = 0; i < laid_out.size(); ++i) {
    laid_out[i] = pattern_byte(pattern, i);
  }
  for (std::int64_t i = 0; i < total; ++i) {
    const std::int64_t column = i % columns;
    const std::int64_t target = i / columns * row_elements + column;
    if (column < row_elements && target < total) {
      std::memcpy(laid_out.data() + static_cast<std::size_t>(target) * size,
                  tensor.bytes.data() + static_cast<std::size_t>(i) * size, size);
    }
  }
  if (laid_out == tensor.bytes) {
    return "the layout does not change the output";
  }
  tensor.bytes = std::move(laid_out);
  return "";
}

double rounded_to_tf32(double value) {
  const auto single = static_cast<float>(value);
  if (!std::isfinite(single)) {
    return value;
  }
  constexpr std::uint32_t kDropped = 13; // of the 23 mantissa bits
  auto bits = std::bit_cast<std::uint32_t>(single);
  bits += (1U << (kDropped - 1U)) - 1U + ((bits >> kDropped) & 1U);
  return std::bit_cast<float>(bits & ~((1U << kDropped) - 1U));
}

} // namespace winnow::tasks
