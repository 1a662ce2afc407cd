// Compiled with -ffp-contract=off: a fused multiply-add would change the last bit on some machines.
#include "tasks/input_generator.h"

#include <array>
#include <cmath>

namespace winnow::tasks {
namespace {

using Block = std::array<std::uint32_t, 4>;

// Philox 4x32-10 (Salmon et al., SC 2011): ten rounds of multiply and xor over a counter.
Block philox(Block counter, std::uint64_t key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53U;
  constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57U;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9U;
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85U;
  auto key0 = static_cast<std::uint32_t>(key);
  auto key1 = static_cast<std::uint32_t>(key >> 32U);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32U) ^ counter[1] ^ key0,
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32U) ^ counter[3] ^ key1,
               static_cast<std::uint32_t>(product0)};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return counter;
}

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash;
}

// The random numbers of one tensor under one seed.
class Stream {
public:
  Stream(std::uint64_t seed, std::string_view tensor) : seed_(seed), name_hash_(fnv1a(tensor)) {}

  Block block(std::uint64_t index) const { return bits(index, name_hash_); }
  // Independent of block(index).
  Block second_block(std::uint64_t index) const { return bits(index, ~name_hash_); }

private:
  Block bits(std::uint64_t index, std::uint64_t stream) const {
    return philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32U),
                   static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32U)},
                  seed_);
  }

  std::uint64_t seed_;
  std::uint64_t name_hash_;
};

// In [0, 1), a multiple of 2^-53.
double uniform(const Block& block) {
  const std::uint64_t bits = (std::uint64_t{block[0]} << 32U) | block[1];
  return static_cast<double>(bits >> 11U) * 0x1p-53;
}

// Mean 0, variance 1: the sum of eight 16-bit uniforms, exact in integers until the last step.
double normal(const Block& block) {
  // 1 / sqrt(8 * (65536^2 - 1) / 12), rounded to double
  constexpr double kScale = 1.8688123650118534e-05;
  std::uint32_t sum = 0;
  for (const std::uint32_t word : block) {
    sum += (word & 0xffffU) + (word >> 16U);
  }
  constexpr std::int32_t kTwiceMean = 8 * 65535;
  const std::int32_t twice_centred = 2 * static_cast<std::int32_t>(sum) - kTwiceMean;
  return static_cast<double>(twice_centred) * (kScale / 2);
}

// A whole number in [low, low + count).
double whole(const Block& block, double low, double count) {
  const double step = std::floor(uniform(block) * count);
  return low + (step < count ? step : count - 1); // the product may round up to count
}

double between(const Block& block, double low, double high) {
  const double value = low + (high - low) * uniform(block);
  return value < high ? value : low;
}

double heavy_tail(const Stream& stream, std::uint64_t index, double scale) {
  constexpr std::uint32_t kOneInHundred = 0xffffffffU / 100U;
  constexpr double kTail = 100;
  const double value = scale * normal(stream.block(index));
  return stream.second_block(index)[0] < kOneInHundred ? kTail * value : value;
}

double element(const GeneratorSpec& spec, const Stream& stream, std::uint64_t index) {
  switch (spec.kind) {
  case GeneratorSpec::Kind::Normal:
    return spec.a + spec.b * normal(stream.block(index));
  case GeneratorSpec::Kind::Uniform:
    return between(stream.block(index), spec.a, spec.b);
  case GeneratorSpec::Kind::HeavyTail:
    return heavy_tail(stream, index, spec.b);
  case GeneratorSpec::Kind::SmallIntegers:
    return whole(stream.block(index), spec.a, spec.b - spec.a + 1);
  case GeneratorSpec::Kind::Index:
    return whole(stream.block(index), 0, spec.a);
  case GeneratorSpec::Kind::Constant:
    return spec.a;
  }
  return 0;
}

} // namespace

double generate_element(const GeneratorSpec& spec, std::uint64_t seed, std::string_view tensor,
                        std::uint64_t index) {
  return element(spec, Stream(seed, tensor), index);
}

void generate_tensor(const GeneratorSpec& spec, DType dtype, std::uint64_t seed,
                     std::string_view tensor, void* data, std::uint64_t count) {
  const Stream stream(seed, tensor);
  const std::uint64_t element_bytes = size_bytes(dtype);
  auto* bytes = static_cast<std::byte*>(data);
  for (std::uint64_t index = 0; index < count; ++index) {
    store_element(dtype, bytes + index * element_bytes, element(spec, stream, index));
  }
}

} // namespace winnow::tasks
