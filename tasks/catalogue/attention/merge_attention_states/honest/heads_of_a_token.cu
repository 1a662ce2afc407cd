/*@winnow
{
  "let": { "parts": "ceil_div(heads, 16)" },
  "launches": [ { "kernel": "merge", "grid": ["tokens * parts"], "block": [64],
                  "args": ["a", "lse_a", "b", "lse_b", "y", "lse", "tokens", "heads", "dim",
                           "parts"] } ] }
@*/
// A block has up to 16 heads of a token. Their weights, by powers of two, wait in shared memory.
#include <cuda_bf16.h>

extern "C" __global__ void merge(const __nv_bfloat16* __restrict__ a,
                                 const float* __restrict__ lse_a,
                                 const __nv_bfloat16* __restrict__ b,
                                 const float* __restrict__ lse_b, __nv_bfloat16* __restrict__ y,
                                 float* __restrict__ lse, int tokens, int heads, int dim,
                                 int parts) {
  __shared__ float weights_a[16], weights_b[16];
  const int token = blockIdx.x / parts, first = blockIdx.x % parts * 16;
  const int count = min(16, heads - first);
  if (threadIdx.x < count) {
    const int state = (first + threadIdx.x) * tokens + token;
    const float la = lse_a[state], lb = lse_b[state];
    const float power = exp2f(-fabsf(la - lb) * 1.44269504f);
    const float larger = 1.0f / (1.0f + power), smaller = power / (1.0f + power);
    weights_a[threadIdx.x] = la > lb ? larger : smaller;
    weights_b[threadIdx.x] = la > lb ? smaller : larger;
    lse[state] = fmaxf(la, lb) + logf(1.0f + power);
  }
  __syncthreads();
  const size_t start = ((size_t)token * heads + first) * dim;
  for (int i = threadIdx.x; i < count * dim; i += 64) {
    const float from_a = __bfloat162float(a[start + i]), from_b = __bfloat162float(b[start + i]);
    y[start + i] = __float2bfloat16(weights_a[i / dim] * from_a + weights_b[i / dim] * from_b);
  }
}
