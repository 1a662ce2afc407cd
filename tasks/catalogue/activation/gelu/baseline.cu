/*@winnow
{
  "params": { "BLOCK": [256, 128, 512] },
  "let": { "fours": "n / 4" },
  "launches": [
    { "kernel": "gelu", "grid": ["ceil_div(fours + n % 4, BLOCK)"], "block": ["BLOCK"],
      "args": ["x", "y", "fours", "n"] }
  ]
}
@*/
// Four elements a thread, and one element a thread for the last up to three.
__device__ float gelu_of(float value) {
  return 0.5f * value * (1.0f + erff(0.70710678f * value));
}

extern "C" __global__ void gelu(const float* __restrict__ x, float* __restrict__ y, long long fours,
                                long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < fours) {
    const float4 four = reinterpret_cast<const float4*>(x)[i];
    reinterpret_cast<float4*>(y)[i] =
        make_float4(gelu_of(four.x), gelu_of(four.y), gelu_of(four.z), gelu_of(four.w));
    return;
  }
  const long long rest = 4 * fours + (i - fours);
  if (rest < n) {
    y[rest] = gelu_of(x[rest]);
  }
}
