/*@winnow
{
  "scratch": { "start": { "dtype": "i32", "count": "n + 1", "keep": true },
               "place": { "dtype": "i32", "count": "n * k", "keep": true },
               "value": { "dtype": "f32", "count": "n * k", "keep": true },
               "column": { "dtype": "f32", "count": "k * 16 * ceil_div(m, 16)" } },
  "prepare": [
    { "kernel": "pack", "grid": [1], "block": [1],
      "args": ["w", "start", "place", "value", "n", "k"] }
  ],
  "launches": [
    { "kernel": "turn", "grid": ["ceil_div(m, 16)"], "block": [1],
      "args": ["x", "column", "m", "k"] },
    { "kernel": "multiply", "grid": ["ceil_div(n, 16)", "ceil_div(m, 16)"], "block": [1],
      "args": ["column", "start", "place", "value", "y", "m", "n", "k"] }
  ]
}
@*/
// The weights that are not 0 are packed once, row after row, as floats. A launch turns x into
// columns of 16 floats. Then a block is one thread with 16 rows of w: an entry adds a multiple of
// 16 numbers of a column of x, which fill two vector registers.
#include <cuda_fp16.h>

constexpr int kLanes = 16;

extern "C" __global__ void pack(const __half* w, int* start, int* place, float* value, int n,
                                int k) {
  int count = 0;
  for (int j = 0; j < n; ++j) {
    start[j] = count;
    for (int p = 0; p < k; ++p) {
      const float weight = __half2float(w[(size_t)j * k + p]);
      if (weight != 0.0f) {
        place[count] = p;
        value[count++] = weight;
      }
    }
  }
  start[n] = count;
}

extern "C" __global__ void turn(const __half* x, float* column, int m, int k) {
  const int top = blockIdx.x * kLanes;
  float* to = column + (size_t)top * k;
  for (int p = 0; p < k; ++p) {
    for (int i = 0; i < kLanes; ++i) {
      to[p * kLanes + i] = top + i < m ? __half2float(x[(size_t)(top + i) * k + p]) : 0.0f;
    }
  }
}

extern "C" __global__ void multiply(const float* __restrict__ column, const int* __restrict__ start,
                                    const int* __restrict__ place, const float* __restrict__ value,
                                    __half* __restrict__ y, int m, int n, int k) {
  const int top = blockIdx.y * kLanes;
  const float* from = column + (size_t)top * k;
  for (int j = blockIdx.x * 16; j < min((int)(blockIdx.x + 1) * 16, n); ++j) {
    float sums[2][kLanes] = {};
    const int end = start[j + 1];
    int p = start[j];
    for (; p + 1 < end; p += 2) {
      for (int part = 0; part < 2; ++part) {
        const float* numbers = from + (size_t)place[p + part] * kLanes;
        const float weight = value[p + part];
#pragma unroll
        for (int i = 0; i < kLanes; ++i) {
          sums[part][i] += weight * numbers[i];
        }
      }
    }
    for (; p < end; ++p) {
      for (int i = 0; i < kLanes; ++i) {
        sums[0][i] += value[p] * from[(size_t)place[p] * kLanes + i];
      }
    }
    for (int i = 0; i < min(kLanes, m - top); ++i) {
      y[(size_t)(top + i) * n + j] = __float2half(sums[0][i] + sums[1][i]);
    }
  }
}
