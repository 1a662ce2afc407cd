/*@winnow
{
  "params": { "ROWS": [8, 2, 32] },
  "launches": [
    { "kernel": "gemv<{ROWS}>", "grid": ["ceil_div(m, ROWS)"], "block": [1],
      "args": ["a", "x", "y", "alpha", "m", "n"] }
  ]
}
@*/
// A block is one thread with a few rows. Sixteen sums that do not wait for one another fill two
// vector registers.
template <typename Term> __device__ float sum_of(int n, Term term) {
  constexpr int kLanes = 16;
  float lanes[kLanes] = {};
  int i = 0;
  for (; i + kLanes <= n; i += kLanes) {
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      lanes[lane] += term(i + lane);
    }
  }
  float sum = 0.0f;
  for (; i < n; ++i) {
    sum += term(i);
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    sum += lanes[lane];
  }
  return sum;
}

template <int ROWS>
__global__ void gemv(const float* __restrict__ a, const float* __restrict__ x,
                     float* __restrict__ y, float alpha, int m, int n) {
  for (int row = blockIdx.x * ROWS; row < min((int)(blockIdx.x + 1) * ROWS, m); ++row) {
    const float* values = a + (size_t)row * n;
    y[row] = alpha * sum_of(n, [&](int c) { return values[c] * x[c]; });
  }
}
