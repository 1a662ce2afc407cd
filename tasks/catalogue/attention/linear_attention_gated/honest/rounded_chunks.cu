/*@winnow
{
  "let": { "planes": "batch * heads", "chunks": "ceil_div(s, 32)" },
  "scratch": { "decay": { "dtype": "f32", "count": "planes * s" },
               "state": { "dtype": "f32", "count": "planes * chunks * d * dv" } },
  "launches": [
    { "kernel": "decays", "grid": ["chunks", "planes"], "block": [32],
      "args": ["forget", "decay", "s"] },
    { "kernel": "own_states", "grid": ["ceil_div(dv, 32)", "chunks", "planes"], "block": [32],
      "args": ["k", "v", "input", "decay", "state", "s", "d", "dv"] },
    { "kernel": "pass_states", "grid": ["ceil_div(d * dv, 64)", "planes"], "block": [64],
      "args": ["decay", "c0", "state", "s", "d * dv", "chunks"] },
    { "kernel": "outputs", "grid": ["ceil_div(dv, 32)", "chunks", "planes"], "block": [32],
      "args": ["q", "k", "v", "input", "decay", "state", "out", { "float": "scale / sqrt(d)" }, "s",
               "d", "dv"] }
  ]
}
@*/
// Chunks of 32 positions: first the states that each chunk gives alone, then their sums from chunk
// to chunk, then the outputs. Gated keys, states and weights are rounded to bfloat16 for products,
// as tensor cores take them.
#include <cuda_bf16.h>

__device__ float rounded(float number) {
  return __bfloat162float(__float2bfloat16(number));
}

extern "C" __global__ void decays(const float* __restrict__ forget, float* __restrict__ decay,
                                  int s) {
  const int t = blockIdx.x * 32 + threadIdx.x;
  const size_t at = (size_t)blockIdx.y * s + t;
  float sum = t < s ? -log1pf(expf(-forget[at])) : 0.0f;
  for (int offset = 1; offset < 32; offset *= 2) {
    const float other = __shfl_up_sync(0xffffffff, sum, offset);
    sum += threadIdx.x >= offset ? other : 0.0f;
  }
  if (t < s) {
    decay[at] = sum;
  }
}

extern "C" __global__ void own_states(const __nv_bfloat16* __restrict__ k,
                                      const __nv_bfloat16* __restrict__ v,
                                      const float* __restrict__ input,
                                      const float* __restrict__ decay, float* __restrict__ state,
                                      int s, int d, int dv) {
  __shared__ float gates[32], values[32][32];
  const int chunk = blockIdx.y, first = chunk * 32, count = min(32, s - first);
  const int lane = threadIdx.x, column = blockIdx.x * 32 + lane;
  const size_t plane = blockIdx.z, start = plane * s + first;
  gates[lane] = lane < count ? expf(decay[start + count - 1] - decay[start + lane]) /
                                   (1.0f + expf(-input[start + lane]))
                             : 0.0f;
  for (int j = 0; j < count; ++j) {
    values[j][lane] = column < dv ? __bfloat162float(v[(start + j) * dv + column]) : 0.0f;
  }
  __syncthreads();
  float* to = state + (plane * gridDim.y + chunk) * d * dv;
  for (int c = 0; c < d && column < dv; ++c) {
    float sum = 0.0f;
    for (int j = 0; j < count; ++j) {
      sum += rounded(gates[j] * __bfloat162float(k[(start + j) * d + c])) * values[j][lane];
    }
    to[(size_t)c * dv + column] = sum;
  }
}

// After this a chunk has the state before it.
extern "C" __global__ void pass_states(const float* __restrict__ decay,
                                       const float* __restrict__ c0, float* state, int s, int size,
                                       int chunks) {
  const int at = blockIdx.x * 64 + threadIdx.x;
  const size_t plane = blockIdx.y;
  float before = at < size ? c0[plane * size + at] : 0.0f;
  for (int chunk = 0; chunk < chunks && at < size; ++chunk) {
    float* mine = state + (plane * chunks + chunk) * size + at;
    const float kept = expf(decay[plane * s + min(chunk * 32 + 32, s) - 1]);
    const float own = *mine;
    *mine = before;
    before = kept * before + own;
  }
}

extern "C" __global__ void outputs(const __nv_bfloat16* __restrict__ q,
                                   const __nv_bfloat16* __restrict__ k,
                                   const __nv_bfloat16* __restrict__ v,
                                   const float* __restrict__ input, const float* __restrict__ decay,
                                   const float* __restrict__ state, __nv_bfloat16* __restrict__ out,
                                   float scale, int s, int d, int dv) {
  __shared__ float weights[32][33];
  const int chunk = blockIdx.y, first = chunk * 32, count = min(32, s - first);
  const int lane = threadIdx.x, column = blockIdx.x * 32 + lane;
  const size_t plane = blockIdx.z, start = plane * s + first;
  if (lane < count) { // a lane has a key
    const float gain = scale / (1.0f + expf(-input[start + lane]));
    for (int t = 0; t < count; ++t) {
      float dot = 0.0f;
      for (int c = 0; c < d && lane <= t; ++c) {
        dot +=
            __bfloat162float(q[(start + t) * d + c]) * __bfloat162float(k[(start + lane) * d + c]);
      }
      const float gate = lane <= t ? gain * expf(decay[start + t] - decay[start + lane]) : 0.0f;
      weights[t][lane] = rounded(gate * dot);
    }
  }
  __syncthreads();
  const float* before = state + (plane * gridDim.y + chunk) * d * dv;
  for (int t = 0; t < count && column < dv; ++t) {
    float inner = 0.0f, outer = 0.0f;
    for (int c = 0; c < d; ++c) {
      outer += __bfloat162float(q[(start + t) * d + c]) * rounded(before[(size_t)c * dv + column]);
    }
    for (int j = 0; j <= t; ++j) {
      inner += weights[t][j] * __bfloat162float(v[(start + j) * dv + column]);
    }
    out[(start + t) * dv + column] =
        __float2bfloat16(scale * expf(decay[start + t]) * outer + inner);
  }
}
