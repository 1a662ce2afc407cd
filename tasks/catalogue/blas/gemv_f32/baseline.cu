/*@winnow
{
  "params": { "WARPS": [4, 8, 2] },
  "let": { "vec": "n % 4 == 0 ? 4 : 1" },
  "launches": [
    { "kernel": "gemv<{WARPS}, {vec}>", "grid": ["ceil_div(m, WARPS)"], "block": [32, "WARPS"],
      "args": ["a", "x", "y", "alpha", "m", "n"] }
  ]
}
@*/
// One warp a row, 16 bytes a load if the rows are aligned; x stays in caches.
template <int VEC> struct alignas(4 * VEC) Pack { float lane[VEC]; };

template <int WARPS, int VEC>
__global__ void gemv(const float* __restrict__ a, const float* __restrict__ x,
                     float* __restrict__ y, float alpha, int m, int n) {
  const int row = blockIdx.x * WARPS + threadIdx.y;
  if (row >= m) {
    return;
  }
  const Pack<VEC>* values = reinterpret_cast<const Pack<VEC>*>(a + (size_t)row * n);
  const Pack<VEC>* factors = reinterpret_cast<const Pack<VEC>*>(x);
  float sum = 0.0f;
#pragma unroll 4
  for (int p = threadIdx.x; p < n / VEC; p += 32) {
    const Pack<VEC> value = values[p], factor = factors[p];
    for (int i = 0; i < VEC; ++i) {
      sum += value.lane[i] * factor.lane[i];
    }
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, offset);
  }
  if (threadIdx.x == 0) {
    y[row] = alpha * sum;
  }
}
