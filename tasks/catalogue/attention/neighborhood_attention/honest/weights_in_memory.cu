/*@winnow
{
  "let": {
    "rows": "min(h, 2 * radius + 1)",
    "columns": "min(w, 2 * radius + 1)",
    "queries": "planes * h * w"
  },
  "scratch": { "score": { "dtype": "f32", "count": "queries * rows * columns" },
               "weight": { "dtype": "f16", "count": "queries * rows * columns" } },
  "launches": [
    { "kernel": "scores", "grid": ["ceil_div(queries * rows * columns, 64)"], "block": [64],
      "args": ["q", "k", "score", "radius", { "float": "scale / sqrt(d)" }, "queries", "h", "w",
               "d"] },
    { "kernel": "softmax", "grid": ["ceil_div(queries, 64)"], "block": [64],
      "args": ["score", "weight", "queries", "rows * columns"] },
    { "kernel": "weigh", "grid": ["ceil_div(queries * d, 64)"], "block": [64],
      "args": ["weight", "v", "out", "radius", "queries", "h", "w", "d"] }
  ]
}
@*/
// Three passes through memory: a score a thread, a softmax a thread, and an output a thread with
// weights in half precision.
#include <cuda_fp16.h>

// The index of key number i of the window of a query.
__device__ long long key_of(long long query, int i, int radius, int h, int w) {
  const int rows = min(h, 2 * radius + 1), columns = min(w, 2 * radius + 1);
  const int x = query % w, y = query / w % h;
  const int top = max(0, min(y - radius, h - rows)), left = max(0, min(x - radius, w - columns));
  return query / w / h * h * w + (long long)(top + i / columns) * w + left + i % columns;
}

extern "C" __global__ void scores(const __half* __restrict__ q, const __half* __restrict__ k,
                                  float* __restrict__ score, int radius, float scale,
                                  long long queries, int h, int w, int d) {
  const int keys = min(h, 2 * radius + 1) * min(w, 2 * radius + 1);
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= queries * keys) {
    return;
  }
  const long long query = at / keys, key = key_of(query, at % keys, radius, h, w);
  float dot = 0.0f;
  for (int c = d - 1; c >= 0; --c) {
    dot += __half2float(q[query * d + c]) * __half2float(k[key * d + c]);
  }
  score[at] = scale * dot;
}

extern "C" __global__ void softmax(const float* __restrict__ score, __half* __restrict__ weight,
                                   long long queries, int keys) {
  const long long query = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (query >= queries) {
    return;
  }
  const float* row = score + query * keys;
  float largest = -INFINITY, total = 0.0f;
  for (int i = 0; i < keys; ++i) {
    largest = fmaxf(largest, row[i]);
  }
  for (int i = 0; i < keys; ++i) {
    total += expf(row[i] - largest);
  }
  for (int i = 0; i < keys; ++i) {
    weight[query * keys + i] = __float2half(expf(row[i] - largest) / total);
  }
}

extern "C" __global__ void weigh(const __half* __restrict__ weight, const __half* __restrict__ v,
                                 __half* __restrict__ out, int radius, long long queries, int h,
                                 int w, int d) {
  const int keys = min(h, 2 * radius + 1) * min(w, 2 * radius + 1);
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= queries * d) {
    return;
  }
  const long long query = at / d;
  float sum = 0.0f;
  for (int i = 0; i < keys; ++i) {
    const long long key = key_of(query, i, radius, h, w);
    sum += __half2float(weight[query * keys + i]) * __half2float(v[key * d + at % d]);
  }
  out[at] = __float2half(sum);
}
