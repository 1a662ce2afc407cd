/*@winnow
{
  "params": { "BLOCK": [256, 128, 512] },
  "let": { "vec": "cols % 8 == 0 ? 8 : 1" },
  "launches": [
    { "kernel": "add_rmsnorm<{BLOCK}, {vec}>", "grid": ["rows"], "block": ["BLOCK"],
      "shared_bytes": "4 * cols", "args": ["x", "residual", "weight", "sum", "y", "eps", "cols"],
      "when": "4 * cols + 64 <= max_static_shared_bytes" },
    { "kernel": "add_squares<{BLOCK}>", "grid": ["rows"], "block": ["BLOCK"],
      "args": ["x", "residual", "weight", "sum", "y", "eps", "cols"],
      "when": "4 * cols + 64 > max_static_shared_bytes" }
  ]
}
@*/
// One block a row; the sums wait in shared memory, or are added twice if the row is too long.
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
__global__ void
add_rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ residual,
            const __nv_bfloat16* __restrict__ weight, __nv_bfloat16* __restrict__ sum,
            __nv_bfloat16* __restrict__ y, float eps, int cols) {
  extern __shared__ float sums[];
  const Pack<VEC>* added = reinterpret_cast<const Pack<VEC>*>(x + (size_t)blockIdx.x * cols);
  const Pack<VEC>* weights = reinterpret_cast<const Pack<VEC>*>(weight);
  const Pack<VEC>* stream =
      reinterpret_cast<const Pack<VEC>*>(residual + (size_t)blockIdx.x * cols);
  Pack<VEC>* next = reinterpret_cast<Pack<VEC>*>(sum + (size_t)blockIdx.x * cols);
  Pack<VEC>* out = reinterpret_cast<Pack<VEC>*>(y + (size_t)blockIdx.x * cols);
  float squares = 0.0f;
  for (int p = threadIdx.x; p < cols / VEC; p += BLOCK) {
    const Pack<VEC> left = added[p];
    const Pack<VEC> right = stream[p];
    Pack<VEC> result;
    for (int i = 0; i < VEC; ++i) {
      const float h = __bfloat162float(left.lane[i]) + __bfloat162float(right.lane[i]);
      sums[p * VEC + i] = h;
      result.lane[i] = __float2bfloat16(h);
      squares += h * h;
    }
    next[p] = result;
  }
  const float scale = rsqrtf(block_sum<BLOCK>(squares) / cols + eps);
  for (int p = threadIdx.x; p < cols / VEC; p += BLOCK) {
    const Pack<VEC> factor = weights[p];
    Pack<VEC> result;
    for (int i = 0; i < VEC; ++i) {
      result.lane[i] =
          __float2bfloat16(sums[p * VEC + i] * scale * __bfloat162float(factor.lane[i]));
    }
    out[p] = result;
  }
}

template <int BLOCK>
__global__ void
add_squares(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ residual,
            const __nv_bfloat16* __restrict__ weight, __nv_bfloat16* __restrict__ sum,
            __nv_bfloat16* __restrict__ y, float eps, int cols) {
  const size_t start = (size_t)blockIdx.x * cols;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    const float h = __bfloat162float(x[start + c]) + __bfloat162float(residual[start + c]);
    squares += h * h;
  }
  const float scale = rsqrtf(block_sum<BLOCK>(squares) / cols + eps);
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    const float h = __bfloat162float(x[start + c]) + __bfloat162float(residual[start + c]);
    sum[start + c] = __float2bfloat16(h);
    y[start + c] = __float2bfloat16(h * scale * __bfloat162float(weight[c]));
  }
}
