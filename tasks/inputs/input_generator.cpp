// This file is compiled with -ffp-contract=off, because a fused multiply-add would change the last
// bit on some machines. -O3 enables vectorisation, for which clang++ must be told to inline.
#if defined(__clang__) && !defined(TASKS_ANYWHERE)
#define TASKS_ANYWHERE __attribute__((always_inline))
#endif
#include "tasks/inputs/input_generator.h"

#include "base/parallel.h"
#include "base/sanitized.h"
#include "tasks/inputs/csr_walk.h"
#include "tasks/inputs/generator_core.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

// Compiles a loop for several vector widths; the program picks one at start. The loop over elements
// of one kind or type has no branches, so it vectorises. Sanitizers cannot instrument the choice.
// clang++ 14 refuses the attribute on templates: macros define these functions.
#if defined(__x86_64__) && __has_attribute(target_clones) && !defined(WINNOW_SANITIZED)
#define TASKS_WIDE_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TASKS_WIDE_VECTORS
#endif

namespace winnow::tasks {
namespace {

using Kind = GeneratorSpec::Kind;

constexpr std::uint64_t kBlock = 256; // elements; a block fits into the L1 cache

#define TASKS_DRAW(name)                                                                           \
  TASKS_WIDE_VECTORS void draw_##name(DrawnGenerator spec, const core::RandomStream& stream,       \
                                      std::uint64_t first, double* values, std::uint64_t count) {  \
    spec.kind = Kind::name; /* makes the kind a compile-time constant */                           \
    for (std::uint64_t i = 0; i < count; ++i) {                                                    \
      values[i] = core::generate(spec, stream, first + i);                                         \
    }                                                                                              \
  }
TASKS_DRAW(Normal)
TASKS_DRAW(Uniform)
TASKS_DRAW(HeavyTail)

void draw_pointers(const DrawnGenerator& spec, std::uint64_t seed, std::uint64_t first,
                   double* values, std::uint64_t count) {
  CsrWalk walk(spec, seed, first, false);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (first + i >= spec.csr.rows) {
      values[i] = spec.a;
      continue;
    }
    values[i] = static_cast<double>(walk.row().before);
    if (!walk.is_last()) {
      walk.next();
    }
  }
}

void draw_columns(const DrawnGenerator& spec, const core::RandomStream& stream, std::uint64_t first,
                  double* values, std::uint64_t count) {
  CsrWalk walk(spec, stream.seed, first, true);
  for (std::uint64_t i = 0; i < count; ++i) {
    while (first + i >= walk.row().before + walk.row().entries && !walk.is_last()) {
      walk.next();
    }
    values[i] = core::csr_column(spec, stream, walk.row(), first + i);
  }
}

void draw_values(const DrawnGenerator& spec, const core::RandomStream& stream, std::uint64_t first,
                 double* values, std::uint64_t count) {
  switch (spec.kind) {
  case Kind::Normal:
    return draw_Normal(spec, stream, first, values, count);
  case Kind::Uniform:
    return draw_Uniform(spec, stream, first, values, count);
  case Kind::HeavyTail:
    return draw_HeavyTail(spec, stream, first, values, count);
  case Kind::CsrRows:
    return draw_pointers(spec, stream.seed, first, values, count);
  case Kind::CsrColumns:
    return draw_columns(spec, stream, first, values, count);
  default:
    for (std::uint64_t i = 0; i < count; ++i) {
      values[i] = core::generate(spec, stream, first + i);
    }
  }
}

#define TASKS_STORE(name, Bits)                                                                    \
  TASKS_WIDE_VECTORS void store_##name(const double* values, std::uint64_t count,                  \
                                       std::byte* data) {                                          \
    for (std::uint64_t i = 0; i < count; ++i) {                                                    \
      const auto bits = static_cast<Bits>(core::element_bits(DType::name, values[i]));             \
      std::memcpy(data + i * sizeof(Bits), &bits, sizeof(Bits));                                   \
    }                                                                                              \
  }
TASKS_STORE(F32, std::uint32_t)
TASKS_STORE(F16, std::uint16_t)
TASKS_STORE(BF16, std::uint16_t)

void store_values(DType dtype, const double* values, std::uint64_t count, std::byte* data) {
  switch (dtype) {
  case DType::F32:
    return store_F32(values, count, data);
  case DType::F16:
    return store_F16(values, count, data);
  case DType::BF16:
    return store_BF16(values, count, data);
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

std::uint64_t spread_seed(std::uint64_t number) {
  return number + (number << 32U);
}

DrawnGenerator drawn(const GeneratorSpec& spec, std::uint64_t seed, std::uint64_t name_hash) {
  return core::drawn(spec, seed, name_hash);
}

double generate_element(const GeneratorSpec& spec, std::uint64_t seed, std::string_view tensor,
                        std::uint64_t index) {
  const std::uint64_t name_hash = hash_name(tensor);
  return core::generate(drawn(spec, seed, name_hash), {seed, name_hash}, index);
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
  const DrawnGenerator generator = drawn(spec, seed, name_hash);
  const core::RandomStream stream{seed, name_hash};
  auto* bytes = static_cast<std::byte*>(data);
  std::array<double, kBlock> values; // NOLINT(*-member-init): draw_values() fills it
  for (std::uint64_t done = 0; done < count; done += kBlock) {
    const std::uint64_t share = std::min(kBlock, count - done);
    draw_values(generator, stream, first + done, values.data(), share);
    store_values(dtype, values.data(), share, bytes + done * size_bytes(dtype));
  }
}

} // namespace winnow::tasks
