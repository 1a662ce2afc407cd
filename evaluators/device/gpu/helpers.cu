// The kernels that GpuDevice needs for itself (helper_kernels.h). The text of tasks/inputs/dtype_core.h,
// tasks/inputs/generator_core.h and guard_core.h comes before this one. Any grid of one dimension does;
// 8-byte loads need `data` to be a multiple of 8.

namespace winnow_helpers {

using winnow::tasks::CsrMatrix;
using winnow::tasks::DrawnGenerator;
using winnow::tasks::DType;
using winnow::tasks::GeneratorSpec;
using winnow::tasks::core::Bits64;
using winnow::tasks::core::RandomStream;
using winnow::evaluators::guard_word;
using winnow::evaluators::mix_bits;

__device__ inline Bits64 first_index() {
  return static_cast<Bits64>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline Bits64 index_step() {
  return static_cast<Bits64>(gridDim.x) * blockDim.x;
}

__device__ inline Bits64 load_bits(const unsigned char* at, int bytes) {
  switch (bytes) {
  case 1:
    return *at;
  case 2:
    return *reinterpret_cast<const unsigned short*>(at);
  case 4:
    return *reinterpret_cast<const unsigned*>(at);
  default:
    return *reinterpret_cast<const Bits64*>(at);
  }
}

__device__ inline void store_bits(unsigned char* at, int bytes, Bits64 bits) {
  switch (bytes) {
  case 1:
    *at = static_cast<unsigned char>(bits);
    return;
  case 2:
    *reinterpret_cast<unsigned short*>(at) = static_cast<unsigned short>(bits);
    return;
  case 4:
    *reinterpret_cast<unsigned*>(at) = static_cast<unsigned>(bits);
    return;
  default:
    *reinterpret_cast<Bits64*>(at) = bits;
  }
}

__device__ inline Bits64 drawn_bits(const DrawnGenerator& spec, int dtype, int element_bytes,
                                    const RandomStream& stream, Bits64 index) {
  const double value = winnow::tasks::core::generate(spec, stream, index);
  const Bits64 bits = winnow::tasks::core::element_bits(static_cast<DType>(dtype), value);
  return element_bytes == 8 ? bits : bits & ((1ULL << (8 * element_bytes)) - 1);
}

// Up to 8 bytes from `at`, the missing ones as 0.
__device__ inline Bits64 load_word(const unsigned char* at, Bits64 bytes) {
  if (bytes >= 8) {
    return *reinterpret_cast<const Bits64*>(at);
  }
  Bits64 word = 0;
  for (Bits64 i = 0; i < bytes; ++i) {
    word |= static_cast<Bits64>(at[i]) << (8 * i);
  }
  return word;
}

} // namespace winnow_helpers

namespace winnow_helpers {

// The compiler knows kind and type: a fifth less time than with a choice for each element.
template <GeneratorSpec::Kind kKind>
__device__ inline void generate_floats(float* data, Bits64 count, DrawnGenerator spec,
                                       const RandomStream& stream) {
  spec.kind = kKind;
  for (Bits64 i = first_index(); i < count; i += index_step()) {
    data[i] = __builtin_bit_cast(float, static_cast<unsigned>(drawn_bits(
                                            spec, static_cast<int>(DType::F32), 4, stream, i)));
  }
}

} // namespace winnow_helpers

__global__ void winnow_generate(unsigned char* data, unsigned long long count, int dtype,
                                int element_bytes, int kind, double a, double b, double c,
                                unsigned long long csr_rows, unsigned long long csr_columns,
                                unsigned long long csr_pointers_hash, unsigned long long seed,
                                unsigned long long name_hash) {
  using namespace winnow_helpers;
  using Kind = GeneratorSpec::Kind;
  const DrawnGenerator spec{static_cast<GeneratorSpec::Kind>(kind), a, b, c,
                            {csr_rows, csr_columns, csr_pointers_hash}};
  const RandomStream stream{seed, name_hash};
  if (dtype == static_cast<int>(DType::F32)) {
    auto* floats = reinterpret_cast<float*>(data);
    switch (spec.kind) {
    case Kind::Normal:
      return generate_floats<Kind::Normal>(floats, count, spec, stream);
    case Kind::Uniform:
      return generate_floats<Kind::Uniform>(floats, count, spec, stream);
    case Kind::HeavyTail:
      return generate_floats<Kind::HeavyTail>(floats, count, spec, stream);
    default:
      break;
    }
  }
  const auto size = static_cast<Bits64>(element_bytes);
  for (Bits64 i = first_index(); i < count; i += index_step()) {
    store_bits(data + i * size, element_bytes, drawn_bits(spec, dtype, element_bytes, stream, i));
  }
}

// *first becomes the least byte that is not what winnow_generate() would write.
__global__ void winnow_verify_generated(const unsigned char* data, unsigned long long count,
                                        int dtype, int element_bytes, int kind, double a, double b,
                                        double c, unsigned long long csr_rows, unsigned long long csr_columns,
                                        unsigned long long csr_pointers_hash,
                                        unsigned long long seed, unsigned long long name_hash,
                                        unsigned long long* first) {
  using namespace winnow_helpers;
  const DrawnGenerator spec{static_cast<GeneratorSpec::Kind>(kind), a, b, c,
                            {csr_rows, csr_columns, csr_pointers_hash}};
  const RandomStream stream{seed, name_hash};
  const auto size = static_cast<Bits64>(element_bytes);
  for (Bits64 i = first_index(); i < count; i += index_step()) {
    Bits64 changed = load_bits(data + i * size, element_bytes) ^
                     drawn_bits(spec, dtype, element_bytes, stream, i);
    if (changed != 0) {
      Bits64 byte = i * size;
      for (; (changed & 0xff) == 0; changed >>= 8U) {
        ++byte;
      }
      atomicMin(first, byte);
    }
  }
}

// `begin` may be any address.
__global__ void winnow_fill_guard(unsigned char* begin, unsigned long long bytes,
                                  unsigned long long salt) {
  using namespace winnow_helpers;
  const Bits64 skew = reinterpret_cast<Bits64>(begin) & 7U;
  unsigned char* aligned = begin - skew;
  const Bits64 address = reinterpret_cast<Bits64>(aligned);
  const Bits64 words = (skew + bytes + 7) / 8;
  for (Bits64 i = first_index(); i < words; i += index_step()) {
    const Bits64 from = i == 0 ? skew : 8 * i;
    const Bits64 to = 8 * i + 8 < skew + bytes ? 8 * i + 8 : skew + bytes;
    const Bits64 word = guard_word(salt, address + 8 * i);
    if (to - from == 8) {
      *reinterpret_cast<Bits64*>(aligned + from) = word;
      continue;
    }
    for (Bits64 at = from; at < to; ++at) {
      aligned[at] = static_cast<unsigned char>(word >> (8 * (at & 7U)));
    }
  }
}

// *nearest becomes the least distance at which a byte of a guard zone is not as winnow_fill_guard()
// has left it: from `begin` on, or backwards from `begin + bytes`, where the last byte is 1 away.
__global__ void winnow_verify_guard(const unsigned char* begin, unsigned long long bytes,
                                    unsigned long long salt, int backwards,
                                    unsigned long long* nearest) {
  using namespace winnow_helpers;
  const Bits64 skew = reinterpret_cast<Bits64>(begin) & 7U;
  const unsigned char* aligned = begin - skew;
  const Bits64 address = reinterpret_cast<Bits64>(aligned);
  const Bits64 words = (skew + bytes + 7) / 8;
  for (Bits64 i = first_index(); i < words; i += index_step()) {
    const Bits64 from = i == 0 ? skew : 8 * i;
    const Bits64 to = 8 * i + 8 < skew + bytes ? 8 * i + 8 : skew + bytes;
    const Bits64 expected = guard_word(salt, address + 8 * i);
    if (to - from == 8 && *reinterpret_cast<const Bits64*>(aligned + from) == expected) {
      continue;
    }
    for (Bits64 at = from; at < to; ++at) {
      if (aligned[at] != ((expected >> (8 * (at & 7U))) & 0xffU)) {
        atomicMin(nearest, backwards != 0 ? skew + bytes - at : at - skew);
      }
    }
  }
}

__global__ void winnow_fill(unsigned char* data, unsigned long long bytes,
                            unsigned long long pattern) {
  using namespace winnow_helpers;
  for (Bits64 i = first_index(); i < (bytes + 7) / 8; i += index_step()) {
    if (bytes - 8 * i >= 8) {
      *reinterpret_cast<Bits64*>(data + 8 * i) = pattern;
    } else {
      for (Bits64 k = 0; k < bytes - 8 * i; ++k) {
        data[8 * i + k] = static_cast<unsigned char>(pattern >> (8 * k));
      }
    }
  }
}

// Adds a hash of bytes and their places to *sum. Who does not know `salt` cannot change bytes so that
// it stays the same.
__global__ void winnow_checksum(const unsigned char* data, unsigned long long bytes,
                                unsigned long long salt, unsigned long long* sum) {
  using namespace winnow_helpers;
  Bits64 mine = 0;
  for (Bits64 i = first_index(); i < (bytes + 7) / 8; i += index_step()) {
    mine += mix_bits(load_word(data + 8 * i, bytes - 8 * i) + mix_bits(salt + i + 1));
  }
  atomicAdd(sum, mine);
}

// Reads: what was written before goes out to memory, and what a timed launch then brings in pushes
// out nothing that must be written back at its expense.
__global__ void winnow_read_all(const unsigned char* data, unsigned long long bytes,
                                unsigned long long* sum) {
  using namespace winnow_helpers;
  Bits64 mine = 0;
  for (Bits64 i = first_index(); i < bytes / 8; i += index_step()) {
    mine |= *reinterpret_cast<const Bits64*>(data + 8 * i);
  }
  if (mine != 0) { // never: the buffer holds zeros; but the compiler must not know
    *sum = mine;
  }
}
