// This file is compiled with -ffp-contract=off, because a fused multiply-add would change the last
// bit on some machines. -O3 enables vectorisation.
#include "tasks/inputs/input_generator.h"

#include "base/parallel.h"
#include "tasks/inputs/generator_core.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

// Compiles a loop for several vector widths; the program picks one at start. The loop over elements
// of one kind or type has no branches, so it vectorises. (g++ only: sanitizers cannot instrument
// the choice.)
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TASKS_WIDE_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TASKS_WIDE_VECTORS
#endif

namespace winnow::tasks {
namespace {

using Kind = GeneratorSpec::Kind;

constexpr std::uint64_t kBlock = 256; // elements; a block fits into the L1 cache

template <Kind kKind>
TASKS_WIDE_VECTORS void draw_values(GeneratorSpec spec, const core::RandomStream& stream,
                                    std::uint64_t first, double* values, std::uint64_t count) {
  spec.kind = kKind; // makes the kind a compile-time constant
  for (std::uint64_t i = 0; i < count; ++i) {
    values[i] = core::generate(spec, stream, first + i);
  }
}

void draw_values(const GeneratorSpec& spec, const core::RandomStream& stream, std::uint64_t first,
                 double* values, std::uint64_t count) {
  switch (spec.kind) {
  case Kind::Normal:
    return draw_values<Kind::Normal>(spec, stream, first, values, count);
  case Kind::Uniform:
    return draw_values<Kind::Uniform>(spec, stream, first, values, count);
  case Kind::HeavyTail:
    return draw_values<Kind::HeavyTail>(spec, stream, first, values, count);
  default:
    for (std::uint64_t i = 0; i < count; ++i) {
      values[i] = core::generate(spec, stream, first + i);
    }
  }
}

template <DType kType, typename Bits>
TASKS_WIDE_VECTORS void store_as(const double* values, std::uint64_t count, std::byte* data) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto bits = static_cast<Bits>(core::element_bits(kType, values[i]));
    std::memcpy(data + i * sizeof(Bits), &bits, sizeof(Bits));
  }
}

void store_values(DType dtype, const double* values, std::uint64_t count, std::byte* data) {
  switch (dtype) {
  case DType::F32:
    return store_as<DType::F32, std::uint32_t>(values, count, data);
  case DType::F16:
    return store_as<DType::F16, std::uint16_t>(values, count, data);
  case DType::BF16:
    return store_as<DType::BF16, std::uint16_t>(values, count, data);
  default:
    for (std::uint64_t i = 0; i < count; ++i) {
      store_element(dtype, data + i * size_bytes(dtype), values[i]);
    }
  }
}

} // namespace

std::uint64_t hash_name(std::string_view tensor) {
  std::uint64_t hash = 0xcbf29ce484222325U; // FNV-1a
  for (const char c : tensor) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash;
}

double generate_element(const GeneratorSpec& spec, std::uint64_t seed, std::string_view tensor,
                        std::uint64_t index) {
  return core::generate(spec, {seed, hash_name(tensor)}, index);
}

void generate_tensor(const GeneratorSpec& spec, DType dtype, std::uint64_t seed,
                     std::string_view tensor, void* data, std::uint64_t count) {
  constexpr std::uint64_t kElementsPerThread = std::uint64_t{1} << 16U; // about a millisecond
  const std::uint64_t name_hash = hash_name(tensor);
  auto* bytes = static_cast<std::byte*>(data);
  in_parts(count, kElementsPerThread, [&](std::uint64_t first, std::uint64_t end) {
    generate_elements(spec, dtype, seed, name_hash, first, bytes + first * size_bytes(dtype),
                      end - first);
  });
}

void generate_elements(const GeneratorSpec& spec, DType dtype, std::uint64_t seed,
                       std::uint64_t name_hash, std::uint64_t first, void* data,
                       std::uint64_t count) {
  const core::RandomStream stream{seed, name_hash};
  auto* bytes = static_cast<std::byte*>(data);
  std::array<double, kBlock> values; // NOLINT(*-member-init): draw_values() fills it
  for (std::uint64_t done = 0; done < count; done += kBlock) {
    const std::uint64_t share = std::min(kBlock, count - done);
    draw_values(spec, stream, first + done, values.data(), share);
    store_values(dtype, values.data(), share, bytes + done * size_bytes(dtype));
  }
}

} // namespace winnow::tasks
