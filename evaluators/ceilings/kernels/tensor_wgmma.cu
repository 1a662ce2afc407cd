/*@winnow
{
  "launches": [
    { "kernel": "tensor_rate<{work}>", "grid": "sm_count", "block": 256, "args": ["to", "passes"] }
  ]
}
@*/
// Tensor rates of Hopper by its warpgroup instructions: mma.sync reaches about two thirds of them.
// One block a multiprocessor, two warpgroups in it, each with 64 x 256 sums in registers; both
// operands are read from shared memory, a tile of 64 and one of 256 rows of 128 bytes, k innermost
// in both, which every kind of element allows.

constexpr int kF16 = 4, kBf16 = 5, kTf32 = 6, kF8 = 7, kI8 = 8;
constexpr int kThreads = 256;
constexpr int kWordsA = 64 * 32, kWordsB = 256 * 32;

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

// The matrix descriptor of a tile with the 128-byte swizzle (layout type 1 in bits 62 and 63), all
// fields in units of 16 bytes: 1,024 bytes from 8 rows to the next 8. The leading distance has no
// meaning for a tile one swizzle wide.
__device__ __forceinline__ unsigned long long descriptor(const void* tile) {
  const unsigned address = (unsigned)__cvta_generic_to_shared(tile);
  return (unsigned long long)((address & 0x3ffff) >> 4) | 1ull << 16 | (1024ull >> 4) << 32 |
         1ull << 62;
}

#define SUMS_8(CONSTRAINT, I)                                                                      \
  CONSTRAINT(d[I]), CONSTRAINT(d[I + 1]), CONSTRAINT(d[I + 2]), CONSTRAINT(d[I + 3]),              \
      CONSTRAINT(d[I + 4]), CONSTRAINT(d[I + 5]), CONSTRAINT(d[I + 6]), CONSTRAINT(d[I + 7])
#define SUMS_32(CONSTRAINT, I)                                                                     \
  SUMS_8(CONSTRAINT, I), SUMS_8(CONSTRAINT, I + 8), SUMS_8(CONSTRAINT, I + 16),                    \
      SUMS_8(CONSTRAINT, I + 24)
#define WGMMA(TYPES, CONSTRAINT, REST)                                                             \
  asm volatile(                                                                                    \
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"                                                \
      "wgmma.mma_async.sync.aligned.m64n256" TYPES " {"                                            \
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "      \
      "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "      \
      "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, "      \
      "%53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, "      \
      "%70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, "      \
      "%87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, "  \
      "%104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, "       \
      "%118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "                              \
      "%128, %129, p" REST ";\n}"                                                                  \
      : SUMS_32(CONSTRAINT, 0), SUMS_32(CONSTRAINT, 32), SUMS_32(CONSTRAINT, 64),                  \
        SUMS_32(CONSTRAINT, 96)                                                                    \
      : "l"(a), "l"(b), "r"(accumulate))

// d (64 x 256) = a * b, plus d unless accumulate is 0, over 32 bytes of k.
template <int WORK>
__device__ __forceinline__ void wgmma(typename Sum<WORK>::Type (&d)[128], unsigned long long a,
                                      unsigned long long b, int accumulate) {
  if constexpr (WORK == kF16) {
    WGMMA("k16.f32.f16.f16", "+f", ", 1, 1, 0, 0");
  } else if constexpr (WORK == kBf16) {
    WGMMA("k16.f32.bf16.bf16", "+f", ", 1, 1, 0, 0");
  } else if constexpr (WORK == kTf32) {
    WGMMA("k8.f32.tf32.tf32", "+f", ", 1, 1");
  } else if constexpr (WORK == kF8) {
    WGMMA("k32.f32.e4m3.e4m3", "+f", ", 1, 1");
  } else {
    WGMMA("k32.s32.s8.s8", "+r", "");
  }
}

template <int PENDING> __device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

// The compiler does not know that wgmma writes its sums later: nothing may read them before this.
__device__ __forceinline__ void complete(float& sum) {
  asm volatile("" : "+f"(sum)::"memory");
}
__device__ __forceinline__ void complete(int& sum) {
  asm volatile("" : "+r"(sum)::"memory");
}

template <int WORK>
__global__ void __launch_bounds__(kThreads, 1) tensor_rate(float* to, int rounds) {
  __shared__ alignas(1024) unsigned a_tile[kWordsA];
  __shared__ alignas(1024) unsigned b_tile[kWordsB];
  for (int i = threadIdx.x; i < kWordsA; i += kThreads) {
    a_tile[i] = word<WORK>(i);
  }
  for (int i = threadIdx.x; i < kWordsB; i += kThreads) {
    b_tile[i] = word<WORK>(kWordsA + i);
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // wgmma reads through that proxy
  __syncthreads();
  const unsigned long long a = descriptor(a_tile), b = descriptor(b_tile);
  typename Sum<WORK>::Type sums[128];
  // Not unrolled: that would take ptxas seconds, and a round takes 128 cycles.
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    const int step = round % 4 * (32 >> 4); // 32 bytes of the rows further, in units of 16
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    wgmma<WORK>(sums, a + step, b + step, round);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    wgmma_wait<3>();
  }
  wgmma_wait<0>();
  float total = 0;
#pragma unroll
  for (int i = 0; i < 128; ++i) {
    complete(sums[i]);
    total += (float)sums[i];
  }
  to[blockIdx.x * kThreads + threadIdx.x] = total;
}
