/*@winnow
{
  "scratch": { "score": { "dtype": "f32", "count": "s * s" },
               "weight": { "dtype": "f16", "count": "s * s" } },
  "launches": [
    { "repeat": "batch * heads", "as": "h", "let": { "at": "h * s * d" },
      "do": [
        { "kernel": "scores", "grid": ["ceil_div(s, 16)", "ceil_div(s, 4)"], "block": [16, 4],
          "args": [{ "tensor": "q", "at": "at" }, { "tensor": "k", "at": "at" }, "score", { "float":
"scale / sqrt(d)" }, "s", "d"] }, { "kernel": "softmax", "grid": ["ceil_div(s, 2)"], "block": [32,
2], "args": ["score", "weight", "s"] }, { "kernel": "weigh", "grid": ["ceil_div(d, 32)",
"ceil_div(s, 4)"], "block": [32, 4], "args": ["weight", { "tensor": "v", "at": "at" }, { "tensor":
"out", "at": "at" }, "s", "d"] } ] }
  ]
}
@*/
// Head after head in three passes: scores, softmax, and a product with weights in half precision.
#include <cuda_fp16.h>

extern "C" __global__ void scores(const __half* __restrict__ q, const __half* __restrict__ k,
                                  float* __restrict__ score, float scale, int s, int d) {
  const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 4 + threadIdx.y;
  if (i >= s || j > i) {
    return;
  }
  float even = 0.0f, odd = 0.0f;
  for (int c = 0; c < d; c += 2) {
    even += __half2float(q[(size_t)i * d + c]) * __half2float(k[(size_t)j * d + c]);
    if (c + 1 < d) {
      odd += __half2float(q[(size_t)i * d + c + 1]) * __half2float(k[(size_t)j * d + c + 1]);
    }
  }
  score[(size_t)i * s + j] = scale * (even + odd);
}

extern "C" __global__ void softmax(const float* __restrict__ score, __half* __restrict__ weight,
                                   int s) {
  const int i = blockIdx.x * 2 + threadIdx.y;
  if (i >= s) {
    return;
  }
  const float* row = score + (size_t)i * s;
  float largest = -INFINITY, sum = 0.0f;
  for (int j = threadIdx.x; j <= i; j += 32) {
    largest = fmaxf(largest, row[j]);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset, 32));
  }
  for (int j = threadIdx.x; j <= i; j += 32) {
    sum += expf(row[j] - largest);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, offset, 32);
  }
  for (int j = threadIdx.x; j <= i; j += 32) {
    weight[(size_t)i * s + j] = __float2half(expf(row[j] - largest) / sum);
  }
}

extern "C" __global__ void weigh(const __half* __restrict__ weight, const __half* __restrict__ v,
                                 __half* __restrict__ out, int s, int d) {
  const int c = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 4 + threadIdx.y;
  if (i >= s || c >= d) {
    return;
  }
  float sum = 0.0f;
  for (int j = 0; j <= i; ++j) {
    sum += __half2float(weight[(size_t)i * s + j]) * __half2float(v[(size_t)j * d + c]);
  }
  out[(size_t)i * d + c] = __float2half(sum);
}
