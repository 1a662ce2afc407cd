/*@winnow
{
  "scratch": { "score": { "dtype": "f64", "count": "s * s" },
               "key": { "dtype": "f64", "count": "s * d" } },
  "launches": [
    { "repeat": "batch * heads", "as": "h",
      "do": [
        { "kernel": "transpose", "grid": ["ceil_div(s, 128)", "d"], "block": [128],
          "args": [{"tensor": "k", "at": "h * s * d"}, "key", "s", "d"] },
        { "kernel": "scores", "grid": ["ceil_div(s, 128)", "ceil_div(s, 4)"], "block": [128],
          "args": [{"tensor": "q", "at": "h * s * d"}, "key", "score",
                   { "float": "scale / sqrt(d)" }, "s", "d"] },
        { "kernel": "softmax", "grid": ["s"], "block": [32], "args": ["score", "s"] },
        { "kernel": "weigh", "grid": ["ceil_div(d, 128)", "ceil_div(s, 4)"], "block": [128],
          "args": ["score", {"tensor": "v", "at": "h * s * d"},
                   {"tensor": "out", "at": "h * s * d"},
                   {"tensor": "out_magnitude", "at": "h * s * d"}, "s", "d"] } ] }
  ]
}
@*/
#include <cuda_fp16.h>

constexpr int kRows = 4; // a thread reads a key or a value once for as many rows

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
  const long long first = blockIdx.y * (long long)kRows, last = min(first + kRows, s) - 1;
  const long long j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (j > last) {
    return;
  }
  double dot[kRows] = {};
  for (long long c = 0; c < d; ++c) {
    const double element = key[c * s + j];
    for (int r = 0; r < kRows; ++r) {
      dot[r] += (double)(float)q[min(first + r, last) * d + c] * element;
    }
  }
  for (int r = 0; r < kRows; ++r) {
    if (j <= first + r && first + r <= last) {
      score[(first + r) * s + j] = NARROW(score, scale * dot[r]);
    }
  }
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
  const long long first = blockIdx.y * (long long)kRows, last = min(first + kRows, s) - 1;
  const long long c = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (c >= d) {
    return;
  }
  double sum[kRows] = {}, block[kRows] = {}, squares[kRows] = {}, lost[kRows] = {};
  for (long long j = 0; j <= last; ++j) {
    const double value = (float)v[j * d + c];
    for (int r = 0; r < kRows; ++r) {
      const double p = j <= first + r ? weight[min(first + r, last) * s + j] : 0;
      block[r] += p * value;
      if (p < 0x1p-25) { // half precision loses it as a whole, and all such losses have one sign
        lost[r] += p * fabs(value);
      } else {
        squares[r] += unsure(p) * unsure(p) * value * value;
      }
    }
    if (j % 32 == 31 || j == last) { // a block that a kernel adds up first
      for (int r = 0; r < kRows; ++r) {
        sum[r] += NARROW(partial_sum, block[r]);
        block[r] = 0;
      }
    }
  }
  for (int r = 0; r < kRows && first + r <= last; ++r) {
    out[(first + r) * d + c] = sum[r];
    magnitude[(first + r) * d + c] = sqrt(squares[r]) + 0x1p11 * lost[r];
  }
}
