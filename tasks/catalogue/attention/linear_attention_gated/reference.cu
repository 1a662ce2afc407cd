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
        { "kernel": "weights", "grid": ["ceil_div(s, 128)", "s"], "block": [128],
          "args": [{"tensor": "q", "at": "h * s * d"}, "key", {"tensor": "input", "at": "h * s"},
                   "decay", "weight", "spread", { "float": "scale / sqrt(d)" }, "s", "d"] },
        { "kernel": "weigh", "grid": ["ceil_div(dv, 128)", "s"], "block": [128],
          "args": ["weight", "spread", {"tensor": "v", "at": "h * s * dv"},
                   {"tensor": "q", "at": "h * s * d"}, {"tensor": "c0", "at": "h * d * dv"},
                   "decay", {"tensor": "out", "at": "h * s * dv"},
                   {"tensor": "out_magnitude", "at": "h * s * dv"}, { "float": "scale / sqrt(d)" },
                   "s", "d", "dv"] } ] }
  ]
}
@*/
#include <cuda_bf16.h>

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
  const long long t = blockIdx.y, j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (j > t) {
    return;
  }
  double dot = 0, squares = 0;
  for (long long c = 0; c < d; ++c) {
    const double product = (double)(float)q[t * d + c] * key[c * s + j];
    dot += product;
    squares += product * product;
  }
  const double gates = scale * exp(decay[t] - decay[j]) / (1 + exp(-(double)input[j]));
  weight[t * s + j] = NARROW(weight, gates * dot);
  spread[t * s + j] = gates * sqrt(squares + dot * dot);
}

extern "C" __global__ void weigh(const double* weight, const float* spread, const __nv_bfloat16* v,
                                 const __nv_bfloat16* q, const float* c0, const double* decay,
                                 double* out, double* magnitude, double scale, long long s,
                                 long long d, long long dv) {
  const long long t = blockIdx.y, column = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (column >= dv) {
    return;
  }
  double sum = 0, block = 0, squares = 0;
  for (long long j = 0; j <= t; ++j) {
    const double value = (float)v[j * dv + column], size = spread[t * s + j] * value;
    block += weight[t * s + j] * value;
    squares += size * size;
    if (j % 32 == 31 || j == t) { // a block that a kernel adds up first
      sum += NARROW(partial_sum, block);
      block = 0;
    }
  }
  double before = 0, before_squares = 0;
  for (long long c = 0; c < d; ++c) {
    const double product = (double)(float)q[t * d + c] * (double)c0[c * dv + column];
    before += product;
    before_squares += product * product;
  }
  const double left = scale * exp(decay[t]);
  out[t * dv + column] = sum + NARROW(partial_sum, left * before);
  magnitude[t * dv + column] = sqrt(squares + left * left * before_squares);
}
