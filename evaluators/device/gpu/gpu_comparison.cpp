#include "evaluators/device/gpu/gpu_comparison.h"

#include "base/error.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::evaluators::gpu {
namespace {

/// Consecutive elements that are staged together and belong to one piece.
struct Part {
  /// Offset in `got`; modulo the staging size: offset in the staging buffer
  std::size_t offset = 0;
  std::size_t bytes = 0;
  std::uint64_t first = 0; ///< index of the first element in the output
  bool begins_stage = false;
};

std::vector<Part> parts_of(std::size_t got_bytes, const std::vector<Piece>& pieces,
                           std::size_t element_bytes, std::size_t stage_bytes) {
  std::vector<Part> parts;
  std::size_t offset = 0;
  for (const Piece& piece : pieces) {
    std::uint64_t first = piece.first;
    for (std::size_t left = piece.count * element_bytes; left > 0;) {
      const std::size_t in_stage = offset % stage_bytes;
      const std::size_t bytes = std::min(left, stage_bytes - in_stage);
      parts.push_back({offset, bytes, first, in_stage == 0});
      offset += bytes;
      left -= bytes;
      first += bytes / element_bytes;
    }
  }
  if (offset != got_bytes) {
    throw Error(fmt::format("an output of {} bytes with pieces of {} bytes", got_bytes, offset));
  }
  return parts;
}

} // namespace

Comparer::~Comparer() {
  try {
    if (staging_.bytes != 0) {
      driver_.release(staging_.begin);
    }
  } catch (const GpuError&) { // the context is lost, and the memory with it
  }
}

ErrorTotals Comparer::compare(std::span<const std::byte> got, const std::vector<Piece>& pieces,
                              tasks::DType dtype, DeviceRange expected, DeviceRange magnitude,
                              const ErrorLimits& limits) {
  const bool is_exact = magnitude.bytes == 0;
  const std::size_t element_bytes = tasks::size_bytes(dtype);
  const std::size_t per_element = is_exact ? element_bytes : sizeof(double);
  helpers_.begin_comparison();
  for (const Part& part : parts_of(got.size(), pieces, element_bytes, staging_bytes_)) {
    const std::uint64_t at = part.first * per_element;
    if (at + part.bytes / element_bytes * per_element > expected.bytes) {
      throw Error(fmt::format("an output has elements behind the {} of its answer",
                              expected.bytes / per_element));
    }
    if (part.begins_stage) {
      stage(got.subspan(part.offset, std::min(staging_bytes_, got.size() - part.offset)));
    }
    const DeviceRange staged{staging_.begin + part.offset % staging_bytes_, part.bytes};
    if (is_exact) {
      helpers_.compare_exact(staged, expected.begin + at);
    } else {
      helpers_.compare(staged, dtype, expected.begin + at, magnitude.begin + at, limits);
    }
  }
  return helpers_.comparison();
}

void Comparer::stage(std::span<const std::byte> bytes) {
  if (staging_.bytes == 0) {
    staging_ = {driver_.allocate(staging_bytes_), staging_bytes_};
  }
  arena_.cover(bytes);
  driver_.upload(staging_.begin, bytes);
}

} // namespace winnow::evaluators::gpu
