/*@winnow
{
  "params": { "STAGES": [4, 3] },
  "let": {
    "tma": "n % 8 == 0 && k % 8 == 0",
    "tiles": "ceil_div(m, 128) * ceil_div(n, 256)"
  },
  "tensor_maps": {
    "a_map": { "tensor": "a", "extents": ["k", "m"], "strides": ["k"], "box": [64, 128],
               "swizzle": "128B", "l2_promotion": "256B" },
    "b_map": { "tensor": "b", "extents": ["n", "k"], "strides": ["n"], "box": [64, 64],
               "swizzle": "128B", "l2_promotion": "256B" }
  },
  "launches": [
    { "kernel": "gemm_wgmma<{STAGES}>", "when": "tma",
      "grid": ["min(tiles, sm_count)"], "block": [384], "shared_bytes": "1024 + STAGES * 49152",
      "args": [{"tensor_map": "a_map"}, {"tensor_map": "b_map"}, "c", "m", "n", "k"] },
    { "kernel": "gemm_plain", "when": "!tma",
      "grid": ["ceil_div(n, 16)", "ceil_div(m, 16)"], "block": [16, 16],
      "args": ["a", "b", "c", "m", "n", "k"] }
  ]
}
@*/
// Matrix product by Hopper's warpgroup instructions. Persistent blocks walk over 128 x 256 tiles of
// c. One warp group loads: TMA boxes of a (128 x 64) and b (64 x 256, as four boxes of 64 columns),
// STAGES tiles ahead. Two warp groups multiply, 64 rows of the tile each, with the 64 x 256 sums in
// registers; while they store a tile, the loads of the next one are on their way.
#include <cuda.h>
#include <cuda_fp16.h>

constexpr int kTileM = 128, kTileN = 256, kTileK = 64; // kTileK: 128 bytes, the swizzle's width
constexpr unsigned kTileBytesA = kTileM * kTileK * 2;
constexpr unsigned kBoxBytesB = kTileK * 64 * 2;
constexpr unsigned kStageBytes = kTileBytesA + 4 * kBoxBytesB;
constexpr int kConsumerWarps = 8;

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

__device__ __forceinline__ void barrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
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

// d (64 x 256) = a (64 x 16) * b (16 x 256), plus d unless accumulate is 0; b has n innermost.
__device__ __forceinline__ void wgmma_64x256x16(float (&d)[128], unsigned long long a,
                                                unsigned long long b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\n"
      "setp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "
      "%127}, "
      "%128, %129, p, 1, 1, 0, 1;\n}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]),
        "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
        "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]),
        "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]),
        "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]),
        "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]),
        "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]),
        "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]),
        "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]),
        "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]),
        "+f"(d[110]), "+f"(d[111]), "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]),
        "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), "+f"(d[120]), "+f"(d[121]),
        "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
      : "l"(a), "l"(b), "r"(accumulate));
}

struct Tile {
  int row, column; // of c
};

// Tiles that run at the same time share rows of a and columns of b: 8 tiles high, then across.
__device__ __forceinline__ Tile tile_at(int index, int m, int n) {
  constexpr int kBand = 8;
  const int tiles_down = (m + kTileM - 1) / kTileM, tiles_across = (n + kTileN - 1) / kTileN;
  const int first = index / (kBand * tiles_across) * kBand;
  const int height = min(kBand, tiles_down - first);
  const int within = index % (kBand * tiles_across);
  return {(first + within % height) * kTileM, within / height * kTileN};
}

__device__ __forceinline__ int tile_count(int m, int n) {
  return ((m + kTileM - 1) / kTileM) * ((n + kTileN - 1) / kTileN);
}

// A place in the ring of stages; the parity of a stage's barrier changes with each round.
template <int STAGES> struct Ring {
  int stage = 0;
  unsigned parity = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == STAGES) {
      stage = 0;
      parity ^= 1;
    }
  }
};

template <int STAGES>
__device__ __forceinline__ void produce(const CUtensorMap& a_map, const CUtensorMap& b_map,
                                        unsigned tiles, unsigned filled, unsigned freed, int m,
                                        int n, int k) {
  Ring<STAGES> ring;
  for (int index = blockIdx.x; index < tile_count(m, n); index += gridDim.x) {
    const Tile tile = tile_at(index, m, n);
    for (int start = 0; start < k; start += kTileK, ring.advance()) {
      const unsigned barrier = filled + 8 * ring.stage;
      const unsigned to = tiles + ring.stage * kStageBytes;
      barrier_wait(freed + 8 * ring.stage, ring.parity ^ 1); // at once in the first round
      barrier_expect(barrier, kStageBytes);
      load_box(to, a_map, barrier, start, tile.row);
      for (int part = 0; part < 4; ++part) {
        load_box(to + kTileBytesA + part * kBoxBytesB, b_map, barrier, tile.column + part * 64,
                 start);
      }
    }
  }
}

// Each warp holds 16 rows; in each group of 8 columns a lane holds two columns of two rows.
__device__ __forceinline__ void store(const float (&sums)[128], __half* c, Tile tile, int rows_down,
                                      int m, int n) {
  const int thread = threadIdx.x % 128;
  const int row = tile.row + rows_down + thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
  for (int group = 0; group < 32; ++group) {
    const int column = tile.column + group * 8 + thread % 4 * 2;
    if (column < n && row < m) { // n is a multiple of 8
      *reinterpret_cast<__half2*>(c + (size_t)row * n + column) =
          __floats2half2_rn(sums[group * 4], sums[group * 4 + 1]);
    }
    if (column < n && row + 8 < m) {
      *reinterpret_cast<__half2*>(c + (size_t)(row + 8) * n + column) =
          __floats2half2_rn(sums[group * 4 + 2], sums[group * 4 + 3]);
    }
  }
}

template <int STAGES>
__device__ __forceinline__ void consume(__half* c, unsigned tiles, unsigned filled, unsigned freed,
                                        int rows_down, int m, int n, int k) {
  Ring<STAGES> ring;
  const bool arrives = threadIdx.x % 32 == 0; // one lane for its warp
  for (int index = blockIdx.x; index < tile_count(m, n); index += gridDim.x) {
    float sums[128];
    int previous = 0;
    for (int start = 0; start < k; start += kTileK, ring.advance()) {
      const unsigned a = tiles + ring.stage * kStageBytes + rows_down * kTileK * 2;
      const unsigned b = tiles + ring.stage * kStageBytes + kTileBytesA;
      // 1,024 bytes from 8 rows of 128 bytes to the next 8: in a along m, in b along k. From 64
      // columns of b to the next 64: one box.
      const unsigned long long a_tile = descriptor(a, 16, 1024);
      const unsigned long long b_tile = descriptor(b, kBoxBytesB, 1024);
      barrier_wait(filled + 8 * ring.stage, ring.parity);
      wgmma_fence();
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        // 16 columns of a are 32 bytes, 16 rows of b are 2,048 bytes.
        wgmma_64x256x16(sums, a_tile + part * (32 >> 4), b_tile + part * (2048 >> 4), start + part);
      }
      wgmma_commit();
      wgmma_wait<1>(); // the stage before this one has been read
      if (start > 0 && arrives) {
        barrier_arrive(freed + 8 * previous);
      }
      previous = ring.stage;
    }
    wgmma_wait<0>();
    sums_are_complete(sums);
    if (arrives) {
      barrier_arrive(freed + 8 * previous);
    }
    store(sums, c, tile_at(index, m, n), rows_down, m, n);
  }
}

template <int STAGES>
__global__ void __launch_bounds__(384, 1)
    gemm_wgmma(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
               __half* c, int m, int n, int k) {
  extern __shared__ unsigned char dynamic_shared[];
  __shared__ alignas(8) unsigned long long barriers[2 * STAGES];
  const unsigned tiles = (shared_address(dynamic_shared) + 1023) / 1024 * 1024;
  const unsigned filled = shared_address(barriers), freed = filled + 8 * STAGES;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < STAGES; ++stage) {
      barrier_init(filled + 8 * stage, 1);
      barrier_init(freed + 8 * stage, kConsumerWarps);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  // 128 threads of 40 registers and 256 of 232 are what 384 of 168 had.
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) {
      produce<STAGES>(a_map, b_map, tiles, filled, freed, m, n, k);
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    consume<STAGES>(c, tiles, filled, freed, threadIdx.x < 256 ? 0 : 64, m, n, k);
  }
}

// For rows that TMA cannot address: their length is no multiple of 16 bytes.
extern "C" __global__ void gemm_plain(const __half* a, const __half* b, __half* c, int m, int n,
                                      int k) {
  __shared__ float a_tile[16][16];
  __shared__ float b_tile[16][17];
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  for (int start = 0; start < k; start += 16) {
    const int a_column = start + threadIdx.x;
    const int b_row = start + threadIdx.y;
    a_tile[threadIdx.y][threadIdx.x] =
        row < m && a_column < k ? __half2float(a[(size_t)row * k + a_column]) : 0.0f;
    b_tile[threadIdx.y][threadIdx.x] =
        b_row < k && column < n ? __half2float(b[(size_t)b_row * n + column]) : 0.0f;
    __syncthreads();
    for (int p = 0; p < 16; ++p) {
      sum += a_tile[threadIdx.y][p] * b_tile[p][threadIdx.x];
    }
    __syncthreads();
  }
  if (row < m && column < n) {
    c[(size_t)row * n + column] = __float2half(sum);
  }
}
