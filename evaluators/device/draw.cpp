#include "evaluators/device/draw.h"

#include "base/parallel.h"

#include <bit>
#include <tuple>
#include <utility>

namespace winnow::evaluators {
namespace {

// As many as a thread draws in about a millisecond.
constexpr std::uint64_t kElementsPerHostThread = std::uint64_t{1} << 16U;

auto bits_of(const tasks::NumberRange& range) {
  return std::pair(std::bit_cast<std::uint64_t>(range.low),
                   std::bit_cast<std::uint64_t>(range.high));
}

auto bits_of(const Draw& draw) {
  const tasks::GeneratorSpec& spec = draw.generator;
  return std::tuple(spec.kind, bits_of(spec.a), bits_of(spec.b), bits_of(spec.c), spec.csr.rows,
                    spec.csr.columns, spec.csr.pointers_hash, draw.dtype, draw.seed,
                    draw.name_hash);
}

} // namespace

bool operator==(const Draw& one, const Draw& other) {
  return bits_of(one) == bits_of(other);
}

void draw_elements(const Draw& draw, std::span<std::byte> data) {
  const std::uint64_t element_bytes = tasks::size_bytes(draw.dtype);
  in_parts(data.size() / element_bytes, kElementsPerHostThread,
           [&](std::uint64_t first, std::uint64_t end) {
             tasks::generate_elements(draw.generator, draw.dtype, draw.seed, draw.name_hash, first,
                                      data.data() + first * element_bytes, end - first);
           });
}

} // namespace winnow::evaluators
