/*@winnow
{
  "params": { "BLOCK": [256, 128, 512] },
  "let": { "vec": "dim % 4 == 0 ? 4 : 1" },
  "launches": [
    { "fill": "y", "value": 0 },
    { "kernel": "scatter_add<{BLOCK}, {vec}>", "grid": ["ceil_div(items * dim, BLOCK * vec)"],
      "block": ["BLOCK"], "args": ["x", "ids", "y", "items * dim", "dim"] }
  ]
}
@*/
// 16 bytes a load if the rows are aligned, and an atomic for each element.
template <int VEC> struct alignas(4 * VEC) Pack { float lane[VEC]; };

template <int BLOCK, int VEC>
__global__ void scatter_add(const float* __restrict__ x, const int* __restrict__ ids, float* y,
                            long long count, int dim) {
  const long long i = (blockIdx.x * (long long)BLOCK + threadIdx.x) * VEC;
  if (i >= count) {
    return;
  }
  const Pack<VEC> pack = *reinterpret_cast<const Pack<VEC>*>(x + i);
  float* target = y + (size_t)ids[i / dim] * dim + i % dim;
  for (int lane = 0; lane < VEC; ++lane) {
    atomicAdd(target + lane, pack.lane[lane]);
  }
}
