/*@winnow
{
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 64)", "m"], "block": [64],
      "args": ["a", "b", "c", "n", "k"] }
  ]
}
@*/
// The arithmetic of three TF32 tensor products, without tensor cores: each factor is the sum of two
// TF32 numbers, and the product of the two small parts is left out.
__device__ float tf32(float x) {
  return __uint_as_float((__float_as_uint(x) + 0x1000u) & ~0x1fffu);
}

__global__ void gemm(const float* __restrict__ a, const float* __restrict__ b,
                     float* __restrict__ c, int n, int k) {
  const int row = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) {
    return;
  }
  float sum = 0.0f;
  for (int p = 0; p < k; ++p) {
    const float x = a[(size_t)row * k + p], y = b[(size_t)p * n + column];
    const float x_high = tf32(x), y_high = tf32(y);
    const float x_low = tf32(x - x_high), y_low = tf32(y - y_high);
    sum = fmaf(x_low, y_high, sum);
    sum = fmaf(x_high, y_low, sum);
    sum = fmaf(x_high, y_high, sum);
  }
  c[(size_t)row * n + column] = sum;
}
