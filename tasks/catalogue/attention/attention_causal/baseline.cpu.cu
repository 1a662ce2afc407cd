/*@winnow
{
  "launches": [
    { "kernel": "attention", "grid": ["ceil_div(s, 16)", "batch * heads"], "block": [1],
      "shared_bytes": "4 * 96 * d",
      "args": ["q", "k", "v", "out", { "float": "scale / sqrt(d)" }, "s", "d"] }
  ]
}
@*/
// A block is one thread with sixteen queries. It walks over tiles of 32 keys and values as floats
// with a running maximum and sum. Keys are stored as columns, so that one vector register has eight
// keys.
#include <cuda_fp16.h>

// Takes rows of d numbers as floats; with `turned`, as columns of 32.
__device__ void load_rows(const __half* rows, float* tile, int count, int d, bool turned) {
  for (int row = 0; row < count; ++row) {
    for (int c = 0; c < d; ++c) {
      tile[turned ? c * 32 + row : row * d + c] = __half2float(rows[(size_t)row * d + c]);
    }
  }
}

// The weights of 32 keys for one query, and the sums of values so far with the new ones.
struct Softmax {
  float largest = -INFINITY, total = 0.0f;

  __device__ void add(const float* query, const float* keys, const float* values, float* sums,
                      int count, float scale, int d) {
    float weights[32] = {};
    for (int c = 0; c < d; ++c) {
#pragma unroll
      for (int j = 0; j < 32; ++j) {
        weights[j] += query[c] * keys[c * 32 + j];
      }
    }
    float maximum = largest;
    for (int j = 0; j < count; ++j) {
      weights[j] *= scale;
      maximum = fmaxf(maximum, weights[j]);
    }
    const float shrink = expf(largest - maximum);
    total *= shrink;
    for (int c = 0; c < d; ++c) {
      sums[c] *= shrink;
    }
    for (int j = 0; j < count; ++j) {
      const float weight = expf(weights[j] - maximum);
      total += weight;
      for (int c = 0; c < d; ++c) {
        sums[c] += weight * values[j * d + c];
      }
    }
    largest = maximum;
  }
};

__global__ void attention(const __half* __restrict__ q, const __half* __restrict__ k,
                          const __half* __restrict__ v, __half* __restrict__ out, float scale,
                          int s, int d) {
  constexpr int kQueries = 16;
  extern __shared__ float shared[];
  float *queries = shared, *sums = queries + kQueries * d;
  float *keys = sums + kQueries * d, *values = keys + 32 * d;
  const int first = blockIdx.x * kQueries, count = min(kQueries, s - first);
  const size_t head = (size_t)blockIdx.y * s * d;
  load_rows(q + head + (size_t)first * d, queries, count, d, false);
  memset(sums, 0, kQueries * d * sizeof(float));
  memset(keys, 0, 32 * d * sizeof(float));
  Softmax softmax[kQueries];
  for (int key = 0; key < first + count; key += 32) {
    const int loaded = min(32, s - key);
    load_rows(k + head + (size_t)key * d, keys, loaded, d, true);
    load_rows(v + head + (size_t)key * d, values, loaded, d, false);
    for (int i = 0; i < count; ++i) {
      const int seen = min(loaded, first + i + 1 - key);
      if (seen > 0) {
        softmax[i].add(queries + i * d, keys, values, sums + i * d, seen, scale, d);
      }
    }
  }
  for (int i = 0; i < count; ++i) {
    for (int c = 0; c < d; ++c) {
      out[head + (size_t)(first + i) * d + c] = __float2half(sums[i * d + c] / softmax[i].total);
    }
  }
}
