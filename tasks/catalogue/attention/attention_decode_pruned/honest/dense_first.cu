/*@winnow
{
  "let": { "rows": "batch * kv_heads * group", "keys": "batch * kv_heads * s" },
  "scratch": { "k": { "dtype": "bf16", "count": "keys * d" },
               "v": { "dtype": "bf16", "count": "keys * d" },
               "score": { "dtype": "f32", "count": "rows * s" },
               "sum": { "dtype": "f32", "count": "rows * d" } },
  "launches": [
    { "fill": "k", "value": 0 },
    { "fill": "v", "value": 0 },
    { "fill": "sum", "value": 0 },
    { "kernel": "unpack", "grid": ["ceil_div(keys, 64)"], "block": [64],
      "args": ["k_mask", "k_values", "k", "keys", "d", "room"] },
    { "kernel": "unpack", "grid": ["ceil_div(keys, 64)"], "block": [64],
      "args": ["v_mask", "v_values", "v", "keys", "d", "room"] },
    { "kernel": "scores", "grid": ["ceil_div(s, 64)", "rows"], "block": [64],
      "args": ["q", "k", "score", { "float": "scale / sqrt(d)" }, "group", "s", "d"] },
    { "kernel": "softmax", "grid": ["rows"], "block": [32], "args": ["score", "s"] },
    { "kernel": "weigh", "grid": ["ceil_div(s, 128)", "rows"], "block": [64],
      "args": ["score", "v", "sum", "group", "s", "d"] },
    { "kernel": "narrow", "grid": ["ceil_div(rows * d, 64)"], "block": [64],
      "args": ["sum", "out", "rows * d"] }
  ]
}
@*/
// Unpacks all keys and values into memory, bit after bit. Then scores in memory, a softmax of each
// row, weights in bfloat16; parts of 128 keys are added by atomics.
#include <cuda_bf16.h>

extern "C" __global__ void unpack(const unsigned char* __restrict__ mask,
                                  const __nv_bfloat16* __restrict__ values, __nv_bfloat16* to,
                                  long long rows, int d, int room) {
  const long long row = blockIdx.x * 64LL + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const __nv_bfloat16 *next = values + row * room, *end = next + room;
  for (int byte = 0; byte < (d + 7) / 8; ++byte) {
    const int bits = mask[row * ((d + 7) / 8) + byte];
    for (int c = byte * 8; c < min(byte * 8 + 8, d); ++c) {
      if (next < end && bits & 1 << c % 8) {
        to[row * d + c] = *next++;
      }
    }
  }
}

extern "C" __global__ void scores(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* k,
                                  float* __restrict__ score, float scale, int group, int s, int d) {
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
  float* row = score + (size_t)blockIdx.x * s;
  float largest = -INFINITY, sum = 0.0f;
  for (int j = threadIdx.x; j < s; j += 32) {
    largest = fmaxf(largest, row[j]);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
  }
  for (int j = threadIdx.x; j < s; j += 32) {
    row[j] = expf(row[j] - largest);
    sum += row[j];
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, offset);
  }
  for (int j = threadIdx.x; j < s; j += 32) {
    row[j] /= sum;
  }
}

extern "C" __global__ void weigh(const float* __restrict__ weight, const __nv_bfloat16* v,
                                 float* sum, int group, int s, int d) {
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
