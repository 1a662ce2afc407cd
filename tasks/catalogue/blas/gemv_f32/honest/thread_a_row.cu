/*@winnow
{ "launches": [ { "kernel": "gemv", "grid": ["ceil_div(m, 32)"], "block": [32],
                  "args": ["a", "x", "y", "alpha", "m", "n"] } ] }
@*/
// One thread a row: the longest chain of additions. Alpha goes into each product.
extern "C" __global__ void gemv(const float* a, const float* x, float* y, float alpha, int m,
                                int n) {
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= m) {
    return;
  }
  float sum = 0.0f;
  for (int j = 0; j < n; ++j) {
    sum = fmaf(alpha * x[j], a[(size_t)row * n + j], sum);
  }
  y[row] = sum;
}
