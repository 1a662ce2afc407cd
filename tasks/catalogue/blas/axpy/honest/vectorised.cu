/*@winnow
{
  "params": { "BLOCK": [128] },
  "launches": [
    { "kernel": "axpy", "grid": ["ceil_div(n, 4 * BLOCK)"], "block": ["BLOCK"],
      "args": ["x", "y", "z", "alpha", "n"] }
  ]
}
@*/
// Four elements a thread in one load; the last thread takes what is left one by one.
extern "C" __global__ void axpy(const float* __restrict__ x, const float* __restrict__ y,
                                float* __restrict__ z, float alpha, int n) {
  const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 3 < n) {
    const float4 left = *reinterpret_cast<const float4*>(x + i);
    const float4 right = *reinterpret_cast<const float4*>(y + i);
    *reinterpret_cast<float4*>(z + i) =
        make_float4(alpha * left.x + right.x, alpha * left.y + right.y, alpha * left.z + right.z,
                    alpha * left.w + right.w);
    return;
  }
  for (int j = i; j < n; ++j) {
    z[j] = alpha * x[j] + y[j];
  }
}
