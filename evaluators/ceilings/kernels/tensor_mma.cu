/*@winnow
{
  "launches": [
    { "kernel": "tensor_rate<{work}>", "grid": "sm_count * 4", "block": 256,
      "args": ["to", "passes"] }
  ]
}
@*/
// Tensor rates by warp-wide mma.sync with all operands in registers: eight sums of a warp do not
// wait for each other, 32 warps share a multiprocessor (two thirds of them fit at once on some).

constexpr int kF16 = 4, kBf16 = 5, kTf32 = 6, kF8 = 7, kI8 = 8;

template <int WORK> struct Sum { using Type = float; };
template <> struct Sum<kI8> { using Type = int; };

// Words of finite numbers of magnitude 0.5 to 1, either sign; any integers.
template <int WORK> __device__ __forceinline__ unsigned word(unsigned seed) {
  const unsigned bits = (seed + 1) * 2654435761u ^ (seed << 13);
  switch (WORK) {
  case kF16:
    return (bits & 0x83ff83ffu) | 0x38003800u;
  case kBf16:
    return (bits & 0x807f807fu) | 0x3f003f00u;
  case kTf32:
    return (bits & 0x807fe000u) | 0x3f000000u;
  case kF8:
    return (bits & 0x87878787u) | 0x30303030u;
  default:
    return bits;
  }
}

#define MMA(TYPES, CONSTRAINT)                                                                     \
  asm volatile("mma.sync.aligned." TYPES                                                           \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                  \
               : CONSTRAINT(d[0]), CONSTRAINT(d[1]), CONSTRAINT(d[2]), CONSTRAINT(d[3])            \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

template <int WORK>
__device__ __forceinline__ void mma(typename Sum<WORK>::Type (&d)[4], const unsigned (&a)[4],
                                    const unsigned (&b)[2]) {
  if constexpr (WORK == kF16) {
    MMA("m16n8k16.row.col.f32.f16.f16.f32", "+f");
  } else if constexpr (WORK == kBf16) {
    MMA("m16n8k16.row.col.f32.bf16.bf16.f32", "+f");
  } else if constexpr (WORK == kTf32) {
    MMA("m16n8k8.row.col.f32.tf32.tf32.f32", "+f");
  } else if constexpr (WORK == kF8) {
    MMA("m16n8k32.row.col.f32.e4m3.e4m3.f32", "+f");
  } else {
    MMA("m16n8k32.row.col.s32.s8.s8.s32", "+r");
  }
}

template <int WORK>
__global__ void __launch_bounds__(256) tensor_rate(float* to, int rounds) {
  constexpr int kChains = 8;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned a[4], b[2];
  for (int i = 0; i < 4; ++i) {
    a[i] = word<WORK>(thread * 8 + i);
  }
  for (int i = 0; i < 2; ++i) {
    b[i] = word<WORK>(thread * 8 + 4 + i);
  }
  typename Sum<WORK>::Type sums[kChains][4] = {};
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int chain = 0; chain < kChains; ++chain) {
      mma<WORK>(sums[chain], a, b);
    }
  }
  float total = 0;
#pragma unroll
  for (int chain = 0; chain < kChains; ++chain) {
    total += (float)(sums[chain][0] + sums[chain][1] + sums[chain][2] + sums[chain][3]);
  }
  to[thread] = total;
}
