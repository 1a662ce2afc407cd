/*@winnow
{
  "scratch": { "decay": { "dtype": "f64", "count": "s" },
               "key": { "dtype": "f64", "count": "s * d" },
               "weight": { "dtype": "f64", "count": "s * s" },
               "spread": { "dtype": "f32", "count": "s * s" } },
  "launches": [
    { "repeat": "batch * heads", "as": "h",
      "do": [
        { "kernel": "decays", "grid": [1], "block": [32],
          "args": [{"tensor": "forget", "at": "h * s"}, "decay", "s"] },
        { "kernel": "transpose", "grid": ["ceil_div(s, 128)", "d"], "block": [128],
          "args": [{"tensor": "k", "at": "h * s * d"}, "key", "s", "d"] },
        { "kernel": "weights", "grid": ["ceil_div(s, 128)", "ceil_div(s, 4)"], "block": [128],
          "args": [{"tensor": "q", "at": "h * s * d"}, "key", {"tensor": "input", "at": "h * s"},
                   "decay", "weight", "spread", { "float": "scale / sqrt(d)" }, "s", "d"] },
        { "kernel": "weigh", "grid": ["ceil_div(dv, 128)", "ceil_div(s, 4)"], "block": [128],
          "args": ["weight", "spread", {"tensor": "v", "at": "h * s * dv"},
                   {"tensor": "q", "at": "h * s * d"}, {"tensor": "c0", "at": "h * d * dv"},
                   "decay", {"tensor": "out", "at": "h * s * dv"},
                   {"tensor": "out_magnitude", "at": "h * s * dv"}, { "float": "scale / sqrt(d)" },
                   "s", "d", "dv"] } ] }
  ]
}
@*/
#include <cuda_bf16.h>

constexpr int kRows = 4; // a thread reads a key or a value once for as many rows

// The logarithm of f[0] * ... * f[t]. A warp takes 32 positions at once.
extern "C" __global__ void decays(const float* forget, double* decay, long long s) {
  double total = 0;
  for (long long first = 0; first < s; first += 32) {
    const long long t = first + threadIdx.x;
    double sum = t < s ? fmin((double)forget[t], 0) - log1p(exp(-fabs((double)forget[t]))) : 0;
    for (int offset = 1; offset < 32; offset *= 2) {
      const double other = __shfl_up_sync(0xffffffff, sum, offset);
      sum += threadIdx.x >= offset ? other : 0;
    }
    if (t < s) {
      decay[t] = total + sum;
    }
    total += __shfl_sync(0xffffffff, sum, 31);
  }
}

// So that neighbouring threads of weights() read neighbouring elements.
extern "C" __global__ void transpose(const __nv_bfloat16* k, double* key, long long s,
                                     long long d) {
  const long long c = blockIdx.y, j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (j < s) {
    key[c * s + j] = (float)k[j * d + c];
  }
}

// The spread is the root of the sum of the squares of the products in a weight, and of the weight.
extern "C" __global__ void weights(const __nv_bfloat16* q, const double* key, const float* input,
                                   const double* decay, double* weight, float* spread, double scale,
                                   long long s, long long d) {
  const long long first = blockIdx.y * (long long)kRows, last = min(first + kRows, s) - 1;
  const long long j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (j > last) {
    return;
  }
  double dot[kRows] = {}, squares[kRows] = {};
  for (long long c = 0; c < d; ++c) {
    const double element = key[c * s + j];
    for (int r = 0; r < kRows; ++r) {
      const double product = (double)(float)q[min(first + r, last) * d + c] * element;
      dot[r] += product;
      squares[r] += product * product;
    }
  }
  for (int r = 0; r < kRows; ++r) {
    const long long t = first + r;
    if (j <= t && t <= last) {
      const double gates = scale * exp(decay[t] - decay[j]) / (1 + exp(-(double)input[j]));
      weight[t * s + j] = NARROW(weight, gates * dot[r]);
      spread[t * s + j] = gates * sqrt(squares[r] + dot[r] * dot[r]);
    }
  }
}

extern "C" __global__ void weigh(const double* weight, const float* spread, const __nv_bfloat16* v,
                                 const __nv_bfloat16* q, const float* c0, const double* decay,
                                 double* out, double* magnitude, double scale, long long s,
                                 long long d, long long dv) {
  const long long first = blockIdx.y * (long long)kRows, last = min(first + kRows, s) - 1;
  const long long column = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (column >= dv) {
    return;
  }
  double sum[kRows] = {}, block[kRows] = {}, squares[kRows] = {};
  for (long long j = 0; j <= last; ++j) {
    const double value = (float)v[j * dv + column];
    for (int r = 0; r < kRows; ++r) {
      const long long at = min(first + r, last) * s + j;
      const double size = j <= first + r ? spread[at] * value : 0;
      block[r] += j <= first + r ? weight[at] * value : 0;
      squares[r] += size * size;
    }
    if (j % 32 == 31 || j == last) { // a block that a kernel adds up first
      for (int r = 0; r < kRows; ++r) {
        sum[r] += NARROW(partial_sum, block[r]);
        block[r] = 0;
      }
    }
  }
  double before[kRows] = {}, before_squares[kRows] = {};
  for (long long c = 0; c < d; ++c) {
    const double state = (double)c0[c * dv + column];
    for (int r = 0; r < kRows; ++r) {
      const double product = (double)(float)q[min(first + r, last) * d + c] * state;
      before[r] += product;
      before_squares[r] += product * product;
    }
  }
  for (int r = 0; r < kRows && first + r <= last; ++r) {
    const long long t = first + r;
    const double left = scale * exp(decay[t]);
    out[t * dv + column] = sum[r] + NARROW(partial_sum, left * before[r]);
    magnitude[t * dv + column] = sqrt(squares[r] + left * left * before_squares[r]);
  }
}
