/*@winnow
{
  "scratch": { "decay": { "dtype": "f32", "count": "s" },
               "weight": { "dtype": "f32", "count": "s * s" } },
  "launches": [
    { "repeat": "batch * heads", "as": "h",
      "do": [
        { "kernel": "decays", "grid": [1], "block": [1],
          "args": [{"tensor": "forget", "at": "h * s"}, "decay", "s"] },
        { "kernel": "weights", "grid": ["ceil_div(s, 16)", "ceil_div(s, 16)"], "block": [16, 16],
          "args": [{"tensor": "q", "at": "h * s * d"}, {"tensor": "k", "at": "h * s * d"},
                   {"tensor": "input", "at": "h * s"}, "decay", "weight",
                   { "float": "scale / sqrt(d)" }, "s", "d"] },
        { "kernel": "weigh", "grid": ["ceil_div(dv, 64)", "s"], "block": [64],
          "args": ["weight", {"tensor": "v", "at": "h * s * dv"},
                   {"tensor": "q", "at": "h * s * d"}, {"tensor": "c0", "at": "h * d * dv"},
                   "decay", {"tensor": "out", "at": "h * s * dv"}, { "float": "scale / sqrt(d)" },
                   "s", "d", "dv"] } ] }
  ]
}
@*/
// Wrong: leaves out the positions from which on less than a sixteenth is left behind the gates.
#include <cuda_bf16.h>

extern "C" __global__ void decays(const float* __restrict__ forget, float* __restrict__ decay,
                                  int s) {
  float sum = 0.0f;
  for (int t = 0; t < s; ++t) {
    sum -= log1pf(expf(-fabsf(forget[t]))) - fminf(forget[t], 0.0f);
    decay[t] = sum;
  }
}

extern "C" __global__ void weights(const __nv_bfloat16* __restrict__ q,
                                   const __nv_bfloat16* __restrict__ k,
                                   const float* __restrict__ input, const float* __restrict__ decay,
                                   float* __restrict__ weight, float scale, int s, int d) {
  __shared__ float queries[16][17], keys[16][17];
  const int top = blockIdx.y * 16, left = blockIdx.x * 16;
  const int x = threadIdx.x, y = threadIdx.y, t = top + y, j = left + x;
  if (left > top) {
    return;
  }
  float dot = 0.0f;
  for (int c = 0; c < d; c += 16) {
    queries[y][x] = t < s && c + x < d ? __bfloat162float(q[(size_t)t * d + c + x]) : 0.0f;
    keys[y][x] =
        left + y < s && c + x < d ? __bfloat162float(k[(size_t)(left + y) * d + c + x]) : 0.0f;
    __syncthreads();
    for (int p = 0; p < 16; ++p) {
      dot += queries[y][p] * keys[x][p];
    }
    __syncthreads();
  }
  if (j <= t && t < s) {
    const float left_over = expf(decay[t] - decay[j]);
    const float gate = left_over < 0.0625f ? 0.0f : left_over / (1.0f + expf(-input[j]));
    weight[(size_t)t * s + j] = scale * gate * dot;
  }
}

extern "C" __global__ void weigh(const float* __restrict__ weight,
                                 const __nv_bfloat16* __restrict__ v,
                                 const __nv_bfloat16* __restrict__ q, const float* __restrict__ c0,
                                 const float* __restrict__ decay, __nv_bfloat16* __restrict__ out,
                                 float scale, int s, int d, int dv) {
  const int t = blockIdx.y, c = blockIdx.x * 64 + threadIdx.x;
  if (c >= dv) {
    return;
  }
  float sum = 0.0f;
  for (int j = 0; j <= t; ++j) {
    sum += weight[(size_t)t * s + j] * __bfloat162float(v[(size_t)j * dv + c]);
  }
  float before = 0.0f;
  for (int row = 0; row < d; ++row) {
    before += __bfloat162float(q[(size_t)t * d + row]) * c0[(size_t)row * dv + c];
  }
  out[(size_t)t * dv + c] = __float2bfloat16(sum + scale * expf(decay[t]) * before);
}
