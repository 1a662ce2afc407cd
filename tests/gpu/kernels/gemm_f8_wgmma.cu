/*@winnow
{
  "let": { "tma": "k % 16 == 0" },
  "tensor_maps": {
    "a_map": { "tensor": "a", "extents": ["k", "m"], "strides": ["k"], "box": [128, 64],
               "swizzle": "128B" },
    "b_map": { "tensor": "b", "extents": ["k", "n"], "strides": ["k"], "box": [128, 64],
               "swizzle": "128B" }
  },
  "launches": [
    { "kernel": "gemm_wgmma", "when": "tma",
      "grid": ["ceil_div(n, 64)", "ceil_div(m, 64)"], "block": [128],
      "args": [{"tensor_map": "a_map"}, {"tensor_map": "b_map"}, "c",
               {"float": "scale_a * scale_b"}, "m", "n", "k"] },
    { "kernel": "gemm_plain", "when": "!tma",
      "grid": ["ceil_div(n, 16)", "ceil_div(m, 16)"], "block": [16, 16],
      "args": ["a", "b", "c", {"float": "scale_a * scale_b"}, "m", "n", "k"] }
  ]
}
@*/
// Matrix product of 8-bit floats by Hopper's warpgroup instructions: one warpgroup a block, a
// 64 x 64 tile of c, one stage of 128 columns of a and b, both with k innermost.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return (unsigned)__cvta_generic_to_shared(pointer);
}

__device__ __forceinline__ void barrier_init(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// The one arrival of a phase that also waits for `bytes` to be copied.
__device__ __forceinline__ void barrier_expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// Returns once the phase of that parity is complete.
__device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity) {
  unsigned complete = 0;
  while (complete == 0) {
    asm volatile("{\n.reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(complete)
                 : "r"(barrier), "r"(parity)
                 : "memory");
  }
}

// Copies the map's box at (x, y), x innermost; what lies outside of the tensor is 0 and counts.
__device__ __forceinline__ void load_box(unsigned to, const CUtensorMap& map, unsigned barrier,
                                         int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%3, %4}], [%2];" ::"r"(to),
               "l"(&map), "r"(barrier), "r"(x), "r"(y)
               : "memory");
}

// The matrix descriptor of wgmma for tiles that TMA wrote with the 128-byte swizzle (layout type 1
// in bits 62 and 63): all fields in units of 16 bytes.
__device__ __forceinline__ unsigned long long descriptor(unsigned address, unsigned leading_bytes,
                                                         unsigned stride_bytes) {
  return (unsigned long long)((address & 0x3ffff) >> 4) |
         (unsigned long long)(leading_bytes >> 4) << 16 |
         (unsigned long long)(stride_bytes >> 4) << 32 | 1ull << 62;
}

__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int PENDING> __device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}
// The compiler does not know that wgmma writes its sums later: nothing may read them before this.
template <int COUNT> __device__ __forceinline__ void sums_are_complete(float (&sums)[COUNT]) {
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    asm volatile("" : "+f"(sums[i])::"memory");
  }
}

// d (64 x 64) = a (64 x 32) * b (32 x 64), plus d unless accumulate is 0; k innermost in both.
__device__ __forceinline__ void wgmma_64x64x32(float (&d)[32], unsigned long long a,
                                               unsigned long long b, int accumulate) {
  asm volatile("{\n.reg .pred p;\n"
               "setp.ne.b32 p, %34, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {"
               "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
               "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
               "%32, %33, p, 1, 1;\n}"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
                 "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]),
                 "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]),
                 "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
                 "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]),
                 "+f"(d[31])
               : "l"(a), "l"(b), "r"(accumulate));
}

extern "C" __global__ void __launch_bounds__(128)
    gemm_wgmma(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
               __nv_bfloat16* c, float scale, int m, int n, int k) {
  __shared__ alignas(1024) unsigned char a_tile[64 * 128]; // 64 rows of 128 bytes
  __shared__ alignas(1024) unsigned char b_tile[64 * 128];
  __shared__ alignas(8) unsigned long long filled;
  const unsigned barrier = shared_address(&filled);
  const unsigned a_address = shared_address(a_tile), b_address = shared_address(b_tile);
  if (threadIdx.x == 0) {
    barrier_init(barrier, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();

  const int first_row = blockIdx.y * 64, first_column = blockIdx.x * 64;
  // 8 rows of 128 bytes are 1,024 bytes: the distance from one group of 8 rows to the next. The
  // leading distance has no meaning for a tile one swizzle wide.
  const unsigned long long a_tile_descriptor = descriptor(a_address, 16, 1024);
  const unsigned long long b_tile_descriptor = descriptor(b_address, 16, 1024);
  float sums[32];
  for (int step = 0; step * 128 < k; ++step) {
    if (threadIdx.x == 0) {
      barrier_expect(barrier, 2 * 64 * 128);
      load_box(a_address, a_map, barrier, step * 128, first_row);
      load_box(b_address, b_map, barrier, step * 128, first_column);
    }
    barrier_wait(barrier, step & 1);
    wgmma_fence();
    for (int part = 0; part < 4; ++part) {
      // 32 columns are 32 bytes.
      wgmma_64x64x32(sums, a_tile_descriptor + part * (32 >> 4),
                     b_tile_descriptor + part * (32 >> 4), step + part);
    }
    wgmma_commit();
    wgmma_wait<0>();
    sums_are_complete(sums);
    __syncthreads(); // the tiles may be overwritten
  }

  // Each warp holds 16 rows; in each group of 8 columns a lane holds two columns of two rows.
  for (int i = 0; i < 32; ++i) {
    const int row = first_row + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i % 4 / 2 * 8;
    const int column = first_column + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
    if (row < m && column < n) {
      c[(size_t)row * n + column] = __float2bfloat16(scale * sums[i]);
    }
  }
}

// For rows that TMA cannot address: their length is no multiple of 16 bytes.
extern "C" __global__ void gemm_plain(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b,
                                      __nv_bfloat16* c, float scale, int m, int n, int k) {
  __shared__ float a_tile[16][17];
  __shared__ float b_tile[16][17];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  const int b_row = blockIdx.x * 16 + threadIdx.y;
  float sum = 0.0f;
  for (int start = 0; start < k; start += 16) {
    const int inner = start + threadIdx.x;
    a_tile[threadIdx.y][threadIdx.x] =
        row < m && inner < k ? float(a[(size_t)row * k + inner]) : 0.0f;
    b_tile[threadIdx.y][threadIdx.x] =
        b_row < n && inner < k ? float(b[(size_t)b_row * k + inner]) : 0.0f;
    __syncthreads();
    for (int p = 0; p < 16; ++p) {
      sum += a_tile[threadIdx.y][p] * b_tile[threadIdx.x][p];
    }
    __syncthreads();
  }
  if (row < m && column < n) {
    c[(size_t)row * n + column] = __float2bfloat16(scale * sum);
  }
}
