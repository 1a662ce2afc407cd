/*@winnow
{
  "let": { "rows": "batch * kv_heads * group" },
  "scratch": { "score": { "dtype": "f64", "count": "rows * s" } },
  "launches": [
    { "kernel": "scores", "grid": ["ceil_div(s, 128)", "rows"], "block": [128],
      "args": ["q", "k", "score", { "float": "scale / sqrt(d)" }, "group", "s", "d"] },
    { "kernel": "softmax", "grid": ["ceil_div(rows, 32)"], "block": [32],
      "args": ["score", "rows", "s"] },
    { "kernel": "weigh", "grid": ["ceil_div(d, 128)", "rows"], "block": [128],
      "args": ["score", "v", "out", "out_magnitude", "group", "s", "d"] }
  ]
}
@*/
#include <cuda_bf16.h>

extern "C" __global__ void scores(const __nv_bfloat16* q, const __nv_bfloat16* k, double* score,
                                  double scale, long long group, long long s, long long d) {
  const long long row = blockIdx.y, j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (j >= s) {
    return;
  }
  double dot = 0;
  for (long long c = 0; c < d; ++c) {
    dot += (double)(float)q[row * d + c] * (double)(float)k[(row / group * s + j) * d + c];
  }
  score[row * s + j] = NARROW(score, scale * dot);
}

extern "C" __global__ void softmax(double* score, long long rows, long long s) {
  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  double* values = score + row * s;
  double largest = values[0], sum = 0;
  for (long long j = 1; j < s; ++j) {
    largest = fmax(largest, values[j]);
  }
  for (long long j = 0; j < s; ++j) {
    values[j] = NARROW(exponential, exp(values[j] - largest));
    sum += values[j];
  }
  for (long long j = 0; j < s; ++j) {
    values[j] = NARROW(weight, values[j] / sum);
  }
}

extern "C" __global__ void weigh(const double* weight, const __nv_bfloat16* v, double* out,
                                 double* magnitude, long long group, long long s, long long d) {
  const long long row = blockIdx.y, c = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (c >= d) {
    return;
  }
  double sum = 0, block = 0, squares = 0;
  for (long long j = 0; j < s; ++j) {
    const double term = weight[row * s + j] * (double)(float)v[(row / group * s + j) * d + c];
    block += term;
    squares += term * term;
    if (j % 32 == 31 || j + 1 == s) { // a block that a kernel adds up first
      sum += NARROW(partial_sum, block);
      block = 0;
    }
  }
  out[row * d + c] = sum;
  magnitude[row * d + c] = sqrt(squares);
}
