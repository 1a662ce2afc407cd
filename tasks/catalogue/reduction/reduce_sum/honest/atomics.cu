/*@winnow
{
  "params": { "BLOCK": [128] },
  "launches": [
    { "fill": "out", "value": 0 },
    { "kernel": "add", "grid": ["min(ceil_div(n, BLOCK), 128)"], "block": ["BLOCK"],
      "args": ["x", "out", "n"] }
  ]
}
@*/
// Warps sum by shuffles and add to the result as they finish: in any order.
extern "C" __global__ void add(const float* __restrict__ x, float* out, int n) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  float sum = 0.0f;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += stride) {
    sum += x[i];
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, offset);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(out, sum);
  }
}
