/*@winnow
{
  "let": { "columns": "d <= 64 ? 2 : ceil_div(d, 32)" },
  "launches": [
    { "kernel": "attention<{columns}>", "grid": ["ceil_div(s, 32)", "batch * heads"],
      "block": [32, 4], "shared_bytes": "4 * (64 * (d + 1) + 32 * 33 + 96)",
      "args": ["q", "k", "v", "out", { "float": "scale / sqrt(d)" }, "s", "d"] }
  ]
}
@*/
// A block has 32 queries and walks over tiles of 32 keys with a running maximum and sum. Keys and
// values take turns in one tile of shared memory; a thread has 8 rows of out in registers.
#include <cuda_fp16.h>

__device__ void load_tile(const __half* x, float* tile, int first, int s, int d, int pitch) {
  const int thread = threadIdx.y * 32 + threadIdx.x;
  for (int i = thread; i < 32 * d; i += 128) {
    const int row = i / d, c = i % d;
    tile[row * pitch + c] = first + row < s ? __half2float(x[(size_t)(first + row) * d + c]) : 0.0f;
  }
}

template <int COLUMNS>
__global__ void attention(const __half* __restrict__ q, const __half* __restrict__ k,
                          const __half* __restrict__ v, __half* __restrict__ out, float scale,
                          int s, int d) {
  extern __shared__ float shared[];
  const int pitch = d | 1; // odd: the rows of a tile begin in different banks
  float* queries = shared;
  float* tile = queries + 32 * pitch;
  float* weights = tile + 32 * pitch;
  float* largest = weights + 32 * 33;
  float* total = largest + 32;
  float* shrink = total + 32;
  const size_t head = (size_t)blockIdx.y * s * d;
  const int top = (gridDim.x - 1 - blockIdx.x) * 32; // the longest rows first
  const int lane = threadIdx.x, first_row = 8 * threadIdx.y;
  float sums[8][COLUMNS] = {};
  load_tile(q + head, queries, top, s, d, pitch);
  if (threadIdx.y == 0) {
    largest[lane] = -INFINITY;
    total[lane] = 0.0f;
  }
  for (int first = 0; first < min(top + 32, s); first += 32) {
    load_tile(k + head, tile, first, s, d, pitch);
    __syncthreads();
    float dots[8] = {};
    for (int c = 0; c < d; ++c) {
      const float key = tile[lane * pitch + c];
      for (int r = 0; r < 8; ++r) {
        dots[r] += queries[(first_row + r) * pitch + c] * key;
      }
    }
    for (int r = 0; r < 8; ++r) {
      const bool is_later = first + lane > top + first_row + r;
      weights[(first_row + r) * 33 + lane] = is_later ? -INFINITY : scale * dots[r];
    }
    __syncthreads();
    load_tile(v + head, tile, first, s, d, pitch);
    if (threadIdx.y == 0) {
      float* row = weights + lane * 33;
      float maximum = largest[lane], sum = 0.0f;
#pragma unroll 4
      for (int j = 0; j < 32; ++j) {
        maximum = fmaxf(maximum, row[j]);
      }
#pragma unroll 4
      for (int j = 0; j < 32; ++j) {
        row[j] = expf(row[j] - maximum);
        sum += row[j];
      }
      shrink[lane] = expf(largest[lane] - maximum);
      total[lane] = total[lane] * shrink[lane] + sum;
      largest[lane] = maximum;
    }
    __syncthreads();
    for (int r = 0; r < 8; ++r) {
      for (int c = 0; c < COLUMNS; ++c) {
        sums[r][c] *= shrink[first_row + r];
      }
    }
#pragma unroll 2
    for (int j = 0; j < 32; ++j) {
      for (int c = 0; c < COLUMNS; ++c) {
        const float value = lane + 32 * c < d ? tile[j * pitch + lane + 32 * c] : 0.0f;
        for (int r = 0; r < 8; ++r) {
          sums[r][c] += weights[(first_row + r) * 33 + j] * value;
        }
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < 8; ++r) {
    const int row = top + first_row + r;
    for (int c = 0; c < COLUMNS; ++c) {
      if (row < s && lane + 32 * c < d) {
        out[head + (size_t)row * d + lane + 32 * c] =
            __float2half(sums[r][c] / total[first_row + r]);
      }
    }
  }
}
