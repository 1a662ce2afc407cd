/*@winnow
{
  "scratch": { "score": { "dtype": "f64", "count": "s * s" },
               "key": { "dtype": "f64", "count": "s * d" } },
  "launches": [
    { "repeat": "batch * heads", "as": "h",
      "do": [
        { "kernel": "transpose", "grid": ["ceil_div(s, 128)", "d"], "block": [128],
          "args": [{"tensor": "k", "at": "h * s * d"}, "key", "s", "d"] },
        { "kernel": "scores", "grid": ["ceil_div(s, 128)", "s"], "block": [128],
          "args": [{"tensor": "q", "at": "h * s * d"}, "key", "score",
                   { "float": "scale / sqrt(d)" }, "s", "d"] },
        { "kernel": "softmax", "grid": ["s"], "block": [32], "args": ["score", "s"] },
        { "kernel": "weigh", "grid": ["ceil_div(d, 128)", "s"], "block": [128],
          "args": ["score", {"tensor": "v", "at": "h * s * d"},
                   {"tensor": "out", "at": "h * s * d"},
                   {"tensor": "out_magnitude", "at": "h * s * d"}, "s", "d"] } ] }
  ]
}
@*/
#include <cuda_fp16.h>

// What a weight of at least 2^-25 may lose when it is rounded to half precision, times 2^11: below
// 2^-14 the steps do not shrink any more.
__device__ double unsure(double weight) {
  return fmax(weight, 0x1p-14);
}

// So that neighbouring threads of scores() read neighbouring elements.
extern "C" __global__ void transpose(const __half* k, double* key, long long s, long long d) {
  const long long c = blockIdx.y, j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (j < s) {
    key[c * s + j] = (float)k[j * d + c];
  }
}

extern "C" __global__ void scores(const __half* q, const double* key, double* score, double scale,
                                  long long s, long long d) {
  const long long i = blockIdx.y, j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (j > i) {
    return;
  }
  double dot = 0;
  for (long long c = 0; c < d; ++c) {
    dot += (double)(float)q[i * d + c] * key[c * s + j];
  }
  score[i * s + j] = NARROW(score, scale * dot);
}

// A warp for each row.
extern "C" __global__ void softmax(double* score, long long s) {
  const long long i = blockIdx.x;
  double* row = score + i * s;
  double largest = row[0], sum = 0;
  for (long long j = threadIdx.x; j <= i; j += 32) {
    largest = fmax(largest, row[j]);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    largest = fmax(largest, __shfl_xor_sync(0xffffffff, largest, offset));
  }
  for (long long j = threadIdx.x; j <= i; j += 32) {
    row[j] = NARROW(exponential, exp(row[j] - largest));
    sum += row[j];
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, offset);
  }
  for (long long j = threadIdx.x; j <= i; j += 32) {
    row[j] = NARROW(weight, row[j] / sum);
  }
}

extern "C" __global__ void weigh(const double* weight, const __half* v, double* out,
                                 double* magnitude, long long s, long long d) {
  const long long i = blockIdx.y, c = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (c >= d) {
    return;
  }
  double sum = 0, block = 0, squares = 0, lost = 0;
  for (long long j = 0; j <= i; ++j) {
    const double p = weight[i * s + j], value = (float)v[j * d + c];
    block += p * value;
    if (p < 0x1p-25) { // half precision loses it as a whole, and all such losses have one sign
      lost += p * fabs(value);
    } else {
      squares += unsure(p) * unsure(p) * value * value;
    }
    if (j % 32 == 31 || j == i) { // a block that a kernel adds up first
      sum += NARROW(partial_sum, block);
      block = 0;
    }
  }
  out[i * d + c] = sum;
  magnitude[i * d + c] = sqrt(squares) + 0x1p11 * lost;
}
