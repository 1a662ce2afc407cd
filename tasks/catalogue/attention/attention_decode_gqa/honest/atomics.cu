/*@winnow
{
  "let": { "rows": "batch * kv_heads * group", "parts": "ceil_div(s, 128)" },
  "scratch": { "score": { "dtype": "f32", "count": "rows * s" },
               "sum": { "dtype": "f32", "count": "rows * d" } },
  "launches": [
    { "fill": "sum", "value": 0 },
    { "kernel": "scores", "grid": ["ceil_div(s, 64)", "rows"], "block": [64],
      "args": ["q", "k", "score", { "float": "scale / sqrt(d)" }, "group", "s", "d"] },
    { "kernel": "softmax", "grid": ["rows"], "block": [64], "args": ["score", "s"] },
    { "kernel": "weigh", "grid": ["parts", "rows"], "block": [64],
      "args": ["score", "v", "sum", "group", "s", "d"] },
    { "kernel": "narrow", "grid": ["ceil_div(rows * d, 64)"], "block": [64],
      "args": ["sum", "out", "rows * d"] }
  ]
}
@*/
// Scores in memory, a softmax of each row, weights in bfloat16; parts of 128 keys are added by
// atomics.
#include <cuda_bf16.h>

extern "C" __global__ void scores(const __nv_bfloat16* __restrict__ q,
                                  const __nv_bfloat16* __restrict__ k, float* __restrict__ score,
                                  float scale, int group, int s, int d) {
  const size_t row = blockIdx.y;
  const int j = blockIdx.x * 64 + threadIdx.x;
  if (j >= s) {
    return;
  }
  float dot = 0.0f;
  for (int c = d - 1; c >= 0; --c) {
    dot += __bfloat162float(q[row * d + c]) * __bfloat162float(k[(row / group * s + j) * d + c]);
  }
  score[row * s + j] = scale * dot;
}

extern "C" __global__ void softmax(float* score, int s) {
  __shared__ float shared[64];
  const int thread = threadIdx.x;
  float* row = score + (size_t)blockIdx.x * s;
  float value = -INFINITY;
  for (int j = thread; j < s; j += 64) {
    value = fmaxf(value, row[j]);
  }
  shared[thread] = value;
  __syncthreads();
  float largest = shared[0];
  for (int t = 1; t < 64; ++t) {
    largest = fmaxf(largest, shared[t]);
  }
  __syncthreads();
  value = 0.0f;
  for (int j = thread; j < s; j += 64) {
    row[j] = expf(row[j] - largest);
    value += row[j];
  }
  shared[thread] = value;
  __syncthreads();
  float sum = 0.0f;
  for (int t = 0; t < 64; ++t) {
    sum += shared[t];
  }
  for (int j = thread; j < s; j += 64) {
    row[j] /= sum;
  }
}

extern "C" __global__ void weigh(const float* __restrict__ weight,
                                 const __nv_bfloat16* __restrict__ v, float* sum, int group, int s,
                                 int d) {
  const size_t row = blockIdx.y;
  const int begin = blockIdx.x * 128, end = min(begin + 128, s);
  for (int c = threadIdx.x; c < d; c += 64) {
    float part = 0.0f;
    for (int j = begin; j < end; ++j) {
      const float rounded = __bfloat162float(__float2bfloat16(weight[row * s + j]));
      part += rounded * __bfloat162float(v[(row / group * s + j) * d + c]);
    }
    atomicAdd(&sum[row * d + c], part);
  }
}

extern "C" __global__ void narrow(const float* __restrict__ sum, __nv_bfloat16* __restrict__ out,
                                  int count) {
  const int at = blockIdx.x * 64 + threadIdx.x;
  if (at < count) {
    out[at] = __float2bfloat16(sum[at]);
  }
}
