/*@winnow
{
  "params": { "PARTS": [3] },
  "let": { "length": "ceil_div(s, PARTS)", "rows": "batch * heads * s" },
  "scratch": { "partial": { "dtype": "f32", "count": "PARTS * rows * (d + 2)" } },
  "launches": [
    { "kernel": "attend<{d}>", "grid": ["ceil_div(s, 32)", "batch * heads", "PARTS"],
      "block": [32], "args": ["q", "k", "v", "partial", { "float": "scale / sqrt(d)" }, "s",
"length"] }, { "kernel": "merge", "grid": ["ceil_div(rows * d, 64)"], "block": [64], "args":
["partial", "out", "rows", "d", "PARTS"] }
  ]
}
@*/
// A thread attends to a part of the keys, in two passes: the maximum first, then weights in half
// precision, as tensor cores take them. A second kernel merges the parts.
#include <cuda_fp16.h>

template <int D> __device__ float score_of(const __half* query, const __half* key, float scale) {
  float dot = 0.0f;
  for (int c = 0; c < D; ++c) {
    dot += scale * __half2float(query[c]) * __half2float(key[c]);
  }
  return dot;
}

template <int D>
__global__ void attend(const __half* __restrict__ q, const __half* __restrict__ k,
                       const __half* __restrict__ v, float* __restrict__ partial, float scale,
                       int s, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s) {
    return;
  }
  const size_t head = (size_t)blockIdx.y * s * D;
  const __half* query = q + head + (size_t)i * D;
  const int begin = blockIdx.z * length, end = min(begin + length, i + 1);
  float largest = -INFINITY, total = 0.0f;
  float sums[D] = {};
  for (int j = begin; j < end; ++j) {
    largest = fmaxf(largest, score_of<D>(query, k + head + (size_t)j * D, scale));
  }
  for (int j = begin; j < end; ++j) {
    const float weight = expf(score_of<D>(query, k + head + (size_t)j * D, scale) - largest);
    const float rounded = __half2float(__float2half(weight));
    total += weight;
    for (int c = 0; c < D; ++c) {
      sums[c] += rounded * __half2float(v[head + (size_t)j * D + c]);
    }
  }
  const size_t rows = (size_t)gridDim.y * s;
  float* mine = partial + (blockIdx.z * rows + (size_t)blockIdx.y * s + i) * (D + 2);
  mine[0] = largest;
  mine[1] = total;
  for (int c = 0; c < D; ++c) {
    mine[2 + c] = sums[c];
  }
}

__global__ void merge(const float* __restrict__ partial, __half* __restrict__ out, long long rows,
                      int d, int parts) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= rows * d) {
    return;
  }
  const long long row = at / d, pitch = d + 2;
  float largest = -INFINITY, total = 0.0f, sum = 0.0f;
  for (int part = 0; part < parts; ++part) {
    largest = fmaxf(largest, partial[(part * rows + row) * pitch]);
  }
  for (int part = 0; part < parts; ++part) {
    const float* mine = partial + (part * rows + row) * pitch;
    const float weight = expf(mine[0] - largest);
    total += weight * mine[1];
    sum += weight * mine[2 + at % d];
  }
  out[at] = __float2half(sum / total);
}
