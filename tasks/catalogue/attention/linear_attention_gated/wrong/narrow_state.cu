/*@winnow
{
  "launches": [
    { "kernel": "attend", "grid": ["ceil_div(dv, 32)", "batch * heads"], "block": [32],
      "shared_bytes": "128 * d",
      "args": ["q", "k", "v", "input", "forget", "c0", "out", { "float": "scale / sqrt(d)" }, "s",
               "d", "dv"] }
  ]
}
@*/
// Wrong: keeps the state in bfloat16 from position to position.
#include <cuda_bf16.h>

extern "C" __global__ void attend(const __nv_bfloat16* __restrict__ q,
                                  const __nv_bfloat16* __restrict__ k,
                                  const __nv_bfloat16* __restrict__ v,
                                  const float* __restrict__ input, const float* __restrict__ forget,
                                  const float* __restrict__ c0, __nv_bfloat16* __restrict__ out,
                                  float scale, int s, int d, int dv) {
  extern __shared__ float state[];
  float* mine = state + threadIdx.x;
  const int column = blockIdx.x * 32 + threadIdx.x;
  for (int c = 0; c < d; ++c) {
    mine[c * 32] = column < dv ? c0[((size_t)blockIdx.y * d + c) * dv + column] : 0.0f;
  }
  for (int t = 0; t < s && column < dv; ++t) {
    const size_t at = (size_t)blockIdx.y * s + t;
    const float kept = 1.0f / (1.0f + expf(-forget[at]));
    const float gain = 1.0f / (1.0f + expf(-input[at]));
    const float value = gain * __bfloat162float(v[at * dv + column]);
    float sum = 0.0f;
    for (int c = 0; c < d; ++c) {
      const float exact = fmaf(__bfloat162float(k[at * d + c]), value, kept * mine[c * 32]);
      const float now = __bfloat162float(__float2bfloat16(exact));
      mine[c * 32] = now;
      sum = fmaf(__bfloat162float(q[at * d + c]), now, sum);
    }
    out[at * dv + column] = __float2bfloat16(scale * sum);
  }
}
