// Compiled with -ffp-contract=off: a fused multiply-add would change the last bit on some machines.
#include "tasks/input_generator.h"

#include "tasks/generator_core.h"

#include <cstddef>

namespace winnow::tasks {

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
  generate_elements(spec, dtype, seed, hash_name(tensor), 0, data, count);
}

void generate_elements(const GeneratorSpec& spec, DType dtype, std::uint64_t seed,
                       std::uint64_t name_hash, std::uint64_t first, void* data,
                       std::uint64_t count) {
  const core::RandomStream stream{seed, name_hash};
  const std::uint64_t element_bytes = size_bytes(dtype);
  auto* bytes = static_cast<std::byte*>(data);
  for (std::uint64_t i = 0; i < count; ++i) {
    store_element(dtype, bytes + i * element_bytes, core::generate(spec, stream, first + i));
  }
}

} // namespace winnow::tasks
