// This file is compiled with -ffp-contract=off, because a fused multiply-add would change the last
// bit on some machines.
#include "tasks/inputs/input_generator.h"

#include "base/parallel.h"
#include "tasks/inputs/csr_walk.h"
#include "tasks/inputs/generator_core.h"
#include "tasks/inputs/wide_vectors.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace winnow::tasks {
namespace {

using Kind = GeneratorSpec::Kind;

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
  const DTypeRow& type = row_of(dtype);
  auto* bytes = static_cast<std::byte*>(data);
  std::array<double, kElementsAtOnce> values; // NOLINT(*-member-init): draw_values() fills it
  for (std::uint64_t done = 0; done < count; done += kElementsAtOnce) {
    const std::uint64_t share = std::min(kElementsAtOnce, count - done);
    draw_values(generator, stream, first + done, values.data(), share);
    type.store(values.data(), bytes + done * type.bytes, share);
  }
}

} // namespace winnow::tasks
