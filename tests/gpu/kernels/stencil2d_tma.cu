/*@winnow
{
  "let": { "tma": "w % 4 == 0" },
  "tensor_maps": {
    "grid_map": { "tensor": "in", "extents": ["w", "h"], "strides": ["w"], "box": [72, 34] }
  },
  "launches": [
    { "kernel": "stencil_tma", "when": "tma",
      "grid": ["ceil_div(w, 64)", "ceil_div(h, 32)"], "block": [64, 4],
      "args": [{"tensor_map": "grid_map"}, "out", "center", "side", "h", "w"] },
    { "kernel": "stencil_plain", "when": "!tma",
      "grid": ["ceil_div(w, 32)", "ceil_div(h, 8)"], "block": [32, 8],
      "args": ["in", "out", "center", "side", "h", "w"] }
  ]
}
@*/
// One copy by the tensor memory accelerator brings a tile with its halo. What lies outside of the
// grid arrives as 0, which is what the stencil wants there. The box begins at column -4, not -1, and
// is 72 wide, not 66: a row of it begins and ends at a multiple of 16 bytes, else the copy is an
// illegal instruction.
#include <cuda.h>

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

constexpr int kTileX = 64, kTileY = 32, kHaloX = 4, kBoxX = kTileX + 2 * kHaloX, kBoxY = kTileY + 2;

extern "C" __global__ void __launch_bounds__(256)
    stencil_tma(const __grid_constant__ CUtensorMap grid_map, float* __restrict__ out, float center,
                float side, int h, int w) {
  __shared__ alignas(128) float tile[kBoxY][kBoxX];
  __shared__ alignas(8) unsigned long long filled;
  const int left = blockIdx.x * kTileX, top = blockIdx.y * kTileY;
  const unsigned barrier = shared_address(&filled);
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    barrier_init(barrier, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    barrier_expect(barrier, sizeof tile);
    load_box(shared_address(tile), grid_map, barrier, left - kHaloX, top - 1);
  }
  __syncthreads(); // the barrier is initialised
  barrier_wait(barrier, 0);
  const int column = left + threadIdx.x;
  if (column >= w) {
    return;
  }
  const int x = threadIdx.x + kHaloX;
  for (int y = threadIdx.y + 1; y <= kTileY && top + y - 1 < h; y += blockDim.y) {
    const float around = tile[y - 1][x] + tile[y + 1][x] + tile[y][x - 1] + tile[y][x + 1];
    out[(size_t)(top + y - 1) * w + column] = center * tile[y][x] + side * around;
  }
}

// For rows that TMA cannot address: their length is no multiple of 16 bytes.
extern "C" __global__ void stencil_plain(const float* __restrict__ in, float* __restrict__ out,
                                         float center, float side, int h, int w) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= h || column >= w) {
    return;
  }
  const auto at = [&](int r, int c) {
    return r >= 0 && r < h && c >= 0 && c < w ? in[(size_t)r * w + c] : 0.0f;
  };
  const float around =
      at(row - 1, column) + at(row + 1, column) + at(row, column - 1) + at(row, column + 1);
  out[(size_t)row * w + column] = center * at(row, column) + side * around;
}
