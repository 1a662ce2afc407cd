/*@winnow
{
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 64)", "m"], "block": [64],
      "args": ["a", "b", "c", "n", "k"] }
  ]
}
@*/
// The arithmetic of three TF32 tensor products, without tensor cores: each factor is the sum of two
// TF32 numbers, the product of the two small parts is left out, and after each eight terms the sum
// is cut to single precision.
__device__ float tf32(float x) {
  return __uint_as_float((__float_as_uint(x) + 0x1000u) & ~0x1fffu);
}

__device__ float cut(double sum) {
  const float nearest = (float)sum;
  return fabs((double)nearest) > fabs(sum) ? __uint_as_float(__float_as_uint(nearest) - 1)
                                           : nearest;
}

__global__ void gemm(const float* __restrict__ a, const float* __restrict__ b,
                     float* __restrict__ c, int n, int k) {
  const int row = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) {
    return;
  }
  float sum = 0.0f;
  for (int first = 0; first < k; first += 8) {
    double low_high = 0, high_low = 0, high_high = 0;
    for (int p = first; p < k && p < first + 8; ++p) {
      const float x = a[(size_t)row * k + p], y = b[(size_t)p * n + column];
      const float x_high = tf32(x), y_high = tf32(y);
      low_high += (double)tf32(x - x_high) * y_high;
      high_low += (double)x_high * tf32(y - y_high);
      high_high += (double)x_high * y_high;
    }
    sum = cut(sum + low_high);
    sum = cut(sum + high_low);
    sum = cut(sum + high_high);
  }
  c[(size_t)row * n + column] = sum;
}
