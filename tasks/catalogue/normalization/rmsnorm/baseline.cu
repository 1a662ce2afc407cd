/*@winnow
{
  "params": { "BLOCK": [256, 128, 512] },
  "let": { "vec": "cols % 8 == 0 ? 8 : 1" },
  "launches": [
    { "kernel": "rmsnorm<{BLOCK}, {vec}>", "grid": ["rows"], "block": ["BLOCK"],
      "args": ["x", "weight", "y", "eps", "cols"] }
  ]
}
@*/
// One block a row, 16 bytes a load if the rows are aligned; the second pass finds the row in
// caches.
#include <cuda_bf16.h>

template <int VEC> struct alignas(2 * VEC) Pack { __nv_bfloat16 lane[VEC]; };

template <int BLOCK> __device__ float block_sum(float value) {
  __shared__ float shared[BLOCK / 32];
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, offset);
  }
  if (threadIdx.x % 32 == 0) {
    shared[threadIdx.x / 32] = value;
  }
  __syncthreads();
  float sum = 0.0f;
  for (int warp = 0; warp < BLOCK / 32; ++warp) {
    sum += shared[warp];
  }
  return sum;
}

template <int BLOCK, int VEC>
__global__ void rmsnorm(const __nv_bfloat16* __restrict__ x,
                        const __nv_bfloat16* __restrict__ weight, __nv_bfloat16* __restrict__ y,
                        float eps, int cols) {
  const Pack<VEC>* values = reinterpret_cast<const Pack<VEC>*>(x + (size_t)blockIdx.x * cols);
  const Pack<VEC>* weights = reinterpret_cast<const Pack<VEC>*>(weight);
  Pack<VEC>* out = reinterpret_cast<Pack<VEC>*>(y + (size_t)blockIdx.x * cols);
  float squares = 0.0f;
  for (int p = threadIdx.x; p < cols / VEC; p += BLOCK) {
    const Pack<VEC> pack = values[p];
    for (int i = 0; i < VEC; ++i) {
      const float value = __bfloat162float(pack.lane[i]);
      squares += value * value;
    }
  }
  const float scale = rsqrtf(block_sum<BLOCK>(squares) / cols + eps);
  for (int p = threadIdx.x; p < cols / VEC; p += BLOCK) {
    const Pack<VEC> pack = values[p], factor = weights[p];
    Pack<VEC> result;
    for (int i = 0; i < VEC; ++i) {
      result.lane[i] = __float2bfloat16(__bfloat162float(pack.lane[i]) * scale *
                                        __bfloat162float(factor.lane[i]));
    }
    out[p] = result;
  }
}
