/*@winnow
{
  "let": { "rows": "batch * kv_heads * group", "keys": "batch * kv_heads * s" },
  "scratch": { "score": { "dtype": "f64", "count": "rows * s" },
               "k": { "dtype": "bf16", "count": "keys * d" },
               "v": { "dtype": "bf16", "count": "keys * d" } },
  "launches": [
    { "kernel": "unpack", "grid": ["ceil_div(keys, 128)"], "block": [128],
      "args": ["k_mask", "k_values", "k", "keys", "d", "room"] },
    { "kernel": "unpack", "grid": ["ceil_div(keys, 128)"], "block": [128],
      "args": ["v_mask", "v_values", "v", "keys", "d", "room"] },
    { "kernel": "scores", "grid": ["ceil_div(s, 128)", "rows"], "block": [128],
      "args": ["q", "k", "score", { "float": "scale / sqrt(d)" }, "group", "s", "d"] },
    { "kernel": "softmax", "grid": ["rows"], "block": [32], "args": ["score", "s"] },
    { "kernel": "weigh", "grid": ["ceil_div(d, 128)", "rows"], "block": [128],
      "args": ["score", "v", "out", "out_magnitude", "group", "s", "d"] }
  ]
}
@*/
#include <cuda_bf16.h>

// All elements of a row, those that are not stored as 0.
extern "C" __global__ void unpack(const unsigned char* mask, const __nv_bfloat16* values,
                                  __nv_bfloat16* to, long long rows, long long d, long long room) {
  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  long long stored = 0;
  for (long long c = 0; c < d; ++c) {
    const bool is_stored = stored < room && (mask[row * ((d + 7) / 8) + c / 8] >> c % 8 & 1);
    to[row * d + c] = is_stored ? values[row * room + stored] : __float2bfloat16(0.0f);
    stored += is_stored;
  }
}

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
  score[row * s + j] = scale * dot;
}

// A warp for each row.
extern "C" __global__ void softmax(double* score, long long s) {
  double* row = score + blockIdx.x * s;
  double largest = row[0], sum = 0;
  for (long long j = threadIdx.x; j < s; j += 32) {
    largest = fmax(largest, row[j]);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    largest = fmax(largest, __shfl_xor_sync(0xffffffff, largest, offset));
  }
  for (long long j = threadIdx.x; j < s; j += 32) {
    row[j] = NARROW(exponential, exp(row[j] - largest));
    sum += row[j];
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, offset);
  }
  for (long long j = threadIdx.x; j < s; j += 32) {
    row[j] = NARROW(weight, row[j] / sum);
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
