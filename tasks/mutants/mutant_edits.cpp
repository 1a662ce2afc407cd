#include "tasks/mutants/mutant_edits.h"

#include "base/parallel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <unordered_map>

namespace winnow::tasks {
namespace {

constexpr std::int64_t kShortestBlock = 32;
constexpr std::int64_t kLongestBlock = 256;
// Changes one element in about 1000. The stride is a prime that divides no usual row length, so
// that the changed elements lie in different columns.
constexpr std::int64_t kLeftOutStride = 1019;

// A kernel with a fixed capacity has some room to spare.
constexpr double kCapacityShare = 1.5;

std::byte pattern_byte(std::uint64_t pattern, std::size_t offset) {
  return static_cast<std::byte>(pattern >> (offset % sizeof pattern * 8U));
}

/// The sum of the elements that are not left out. Blocks of a fixed size make the sum the same on
/// every number of cores.
double sum_of_kept(const HostTensor& tensor) {
  constexpr std::uint64_t kBlock = kElementsAtOnce;
  constexpr std::uint64_t kStride = kLeftOutStride;
  static_assert(kBlock <= kStride);
  const auto count = static_cast<std::uint64_t>(tensor.count());
  std::vector<double> sums((count + kBlock - 1) / kBlock);
  in_parts(sums.size(), kElementsPerThread / kBlock, [&](std::uint64_t first, std::uint64_t end) {
    std::array<double, kBlock> values; // NOLINT(*-member-init): convert_elements() fills it
    for (std::uint64_t block = first; block < end; ++block) {
      const std::uint64_t start = block * kBlock, share = std::min(kBlock, count - start);
      convert_elements(tensor.dtype, tensor.bytes.data() + start * size_bytes(tensor.dtype),
                       DType::F64, reinterpret_cast<std::byte*>(values.data()), share);
      const std::uint64_t left_out = (start + kStride - 1) / kStride * kStride;
      if (left_out < start + share) { // at most one in a block
        values.at(left_out - start) = 0;
      }
      sums[block] = std::accumulate(values.begin(), values.begin() + static_cast<int>(share), 0.0);
    }
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
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
  const std::int64_t left = count - (count + kLeftOutStride - 1) / kLeftOutStride;
  const double value = scaled ? sum_of_kept(tensor) / static_cast<double>(left) : 0;
  const std::size_t size = size_bytes(tensor.dtype);
  bool changed = false;
  for (std::int64_t i = 0; i < count; i += kLeftOutStride) {
    std::array<std::byte, sizeof(double)> before{};
    std::byte* const element = tensor.bytes.data() + static_cast<std::size_t>(i) * size;
    std::memcpy(before.data(), element, size);
    tensor.set(i, value);
    changed = changed || std::memcmp(before.data(), element, size) != 0;
  }
  return changed ? "" : "the elements that the mutant leaves out already have that value";
}

void copy_left_out(const HostTensor& from, std::span<std::byte> to) {
  const std::size_t size = size_bytes(from.dtype);
  for (std::size_t at = 0; at < to.size(); at += size * kLeftOutStride) {
    std::memcpy(to.data() + at, from.bytes.data() + at, size);
  }
}

std::string transpose(HostTensor& tensor) {
  const std::size_t rank = tensor.extents.size();
  const std::int64_t columns = rank < 2 ? 1 : tensor.extents[rank - 1];
  const std::int64_t rows = rank < 2 ? 1 : tensor.extents[rank - 2];
  if (rows == 1 || columns == 1) {
    return "one row or one column";
  }
  const HostBytes original = tensor.bytes;
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
  HostBytes laid_out(tensor.bytes.size());
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

std::string stop_early(HostTensor& tensor, const HostTensor& other) {
  double largest = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < other.count(); ++i) {
    largest = std::max(largest, other.at(i)); // leaves out NaN
  }
  const double enough = std::isfinite(largest) ? largest - std::abs(largest) * 0x1p-10 : largest;
  const std::int64_t columns = tensor.extents.empty() ? 1 : tensor.extents.back();
  bool changed = false;
  for (std::int64_t row = 0; row < tensor.count(); row += columns) {
    const double first = tensor.at(row);
    std::int64_t i = row;
    while (i < row + columns && !(tensor.at(i) >= enough)) {
      ++i;
    }
    for (++i; i < row + columns; ++i) {
      changed = changed || tensor.at(i) != first;
      tensor.set(i, first);
    }
  }
  return changed ? "" : "no row has a value as large as those of another draw before its end";
}

std::string move_surplus(HostTensor& tensor, const HostTensor& other, double limit) {
  std::unordered_map<double, std::int64_t> counts;
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < other.count(); ++i) {
    most = std::max(most, ++counts[other.at(i)]);
  }
  const auto capacity = static_cast<std::int64_t>(kCapacityShare * static_cast<double>(most));
  counts.clear();
  bool changed = false;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const double index = tensor.at(i);
    if (++counts[index] > capacity) {
      const double next = index + 1 < limit ? index + 1 : 0;
      changed = changed || next != index;
      tensor.set(i, next);
    }
  }
  return changed ? "" : "no index occurs 1.5 times as often as any of another draw";
}

std::string shorten_long_rows(HostTensor& tensor, const HostTensor& pointers,
                              const HostTensor& other_pointers) {
  const auto length = [](const HostTensor& of, std::int64_t row) {
    return static_cast<std::int64_t>(of.at(row + 1) - of.at(row));
  };
  std::int64_t longest = 0;
  for (std::int64_t row = 0; row + 1 < other_pointers.count(); ++row) {
    longest = std::max(longest, length(other_pointers, row));
  }
  const auto capacity = static_cast<std::int64_t>(kCapacityShare * static_cast<double>(longest));
  bool changed = false;
  for (std::int64_t row = 0; row + 1 < pointers.count(); ++row) {
    const auto begin = static_cast<std::int64_t>(pointers.at(row));
    for (std::int64_t i = capacity; i < length(pointers, row); ++i) {
      changed = changed || tensor.at(begin + i) != 0;
      tensor.set(begin + i, 0);
    }
  }
  return changed ? "" : "no row is 1.5 times as long as any of another draw";
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
