/*@winnow
{
  "params": { "SIDE": [4, 2] },
  "let": {
    "slots": "tokens * topk",
    "tile": "16 * SIDE",
    "tiles": "min(slots, slots / tile + experts)"
  },
  "scratch": {
    "count": { "dtype": "i32", "count": "experts" },
    "next": { "dtype": "i32", "count": "experts" },
    "tile_expert": { "dtype": "i32", "count": "tiles" },
    "row_slot": { "dtype": "i32", "count": "tiles * tile" }
  },
  "launches": [
    { "fill": "count", "value": 0 },
    { "fill": "tile_expert", "value": -1 },
    { "fill": "row_slot", "value": -1 },
    { "kernel": "count_slots", "grid": ["ceil_div(slots, 256)"], "block": [256],
      "args": ["expert", "count", "slots"] },
    { "kernel": "lay_out_tiles", "grid": [1], "block": [32],
      "args": ["count", "next", "tile_expert", "experts", "tile"] },
    { "kernel": "place_slots", "grid": ["ceil_div(slots, 256)"], "block": [256],
      "args": ["expert", "next", "row_slot", "slots"] },
    { "kernel": "gemm<{SIDE}>", "grid": ["ceil_div(n, tile)", "tiles"], "block": [16, 16],
      "args": ["x", "w", "row_slot", "tile_expert", "y", "topk", "n", "k"] }
  ]
}
@*/
// Slots are sorted by expert, each expert's padded to whole tiles. A tile of rows and columns is a
// block: 16 x 16 threads, SIDE x SIDE sums in the registers of each, tiles in shared memory as
// float. The order within an expert differs from run to run, but no sum depends on it.
#include <cuda_bf16.h>

__global__ void count_slots(const int* __restrict__ expert, int* count, int slots) {
  const int slot = blockIdx.x * 256 + threadIdx.x;
  if (slot < slots) {
    atomicAdd(&count[expert[slot]], 1);
  }
}

__global__ void lay_out_tiles(const int* __restrict__ count, int* __restrict__ next,
                              int* __restrict__ tile_expert, int experts, int tile) {
  for (int e = threadIdx.x; e < experts; e += 32) {
    int first = 0;
    for (int before = 0; before < e; ++before) {
      first += (count[before] + tile - 1) / tile;
    }
    next[e] = first * tile;
    for (int t = 0; t < (count[e] + tile - 1) / tile; ++t) {
      tile_expert[first + t] = e;
    }
  }
}

__global__ void place_slots(const int* __restrict__ expert, int* next, int* __restrict__ row_slot,
                            int slots) {
  const int slot = blockIdx.x * 256 + threadIdx.x;
  if (slot < slots) {
    row_slot[atomicAdd(&next[expert[slot]], 1)] = slot;
  }
}

template <int SIDE>
__global__ void gemm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                     const int* __restrict__ row_slot, const int* __restrict__ tile_expert,
                     __nv_bfloat16* __restrict__ y, int topk, int n, int k) {
  constexpr int kTile = 16 * SIDE, kDepth = 16;
  __shared__ float x_tile[kDepth][kTile + 1];
  __shared__ float w_tile[kDepth][kTile + 1];
  __shared__ int slots[kTile];
  const int expert = tile_expert[blockIdx.y];
  if (expert < 0) {
    return;
  }
  const int left = blockIdx.x * kTile;
  const int thread = threadIdx.y * 16 + threadIdx.x;
  if (thread < kTile) {
    slots[thread] = row_slot[blockIdx.y * kTile + thread];
  }
  __syncthreads();
  const __nv_bfloat16* weights = w + (size_t)expert * n * k;
  float sums[SIDE][SIDE] = {};
  for (int start = 0; start < k; start += kDepth) {
    for (int i = thread; i < kTile * kDepth; i += 256) {
      const int row = i / kDepth, p = i % kDepth;
      const int slot = slots[row];
      x_tile[p][row] = slot >= 0 && start + p < k
                           ? __bfloat162float(x[(size_t)(slot / topk) * k + start + p])
                           : 0.0f;
      w_tile[p][row] = left + row < n && start + p < k
                           ? __bfloat162float(weights[(size_t)(left + row) * k + start + p])
                           : 0.0f;
    }
    __syncthreads();
    for (int p = 0; p < kDepth; ++p) {
      float rows[SIDE], columns[SIDE];
      for (int i = 0; i < SIDE; ++i) {
        rows[i] = x_tile[p][threadIdx.y + 16 * i];
        columns[i] = w_tile[p][threadIdx.x + 16 * i];
      }
      for (int i = 0; i < SIDE; ++i) {
        for (int j = 0; j < SIDE; ++j) {
          sums[i][j] += rows[i] * columns[j];
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < SIDE; ++i) {
    const int slot = slots[threadIdx.y + 16 * i];
    for (int j = 0; j < SIDE; ++j) {
      const int column = left + threadIdx.x + 16 * j;
      if (slot >= 0 && column < n) {
        y[(size_t)slot * n + column] = __float2bfloat16(sums[i][j]);
      }
    }
  }
}
