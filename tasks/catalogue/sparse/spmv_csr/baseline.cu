/*@winnow
{
  "params": { "LANES": [8, 32, 2] },
  "launches": [
    { "kernel": "spmv<{LANES}>", "grid": ["ceil_div(rows, 256 / LANES)"], "block": [256],
      "args": ["row_ptr", "col", "values", "x", "z", "y", "alpha", "beta", "rows"] }
  ]
}
@*/
// Neighbouring lanes share a row, so that loads of long rows are coalesced (Bell and Garland, 2009).
template <int LANES>
__global__ void spmv(const int* __restrict__ row_ptr, const int* __restrict__ col,
                     const float* __restrict__ values, const float* __restrict__ x,
                     const float* __restrict__ z, float* __restrict__ y, float alpha, float beta,
                     int rows) {
  const int row = blockIdx.x * (256 / LANES) + threadIdx.x / LANES;
  const int end = row < rows ? row_ptr[row + 1] : 0;
  float sum = 0.0f;
  for (int p = row < rows ? row_ptr[row] + threadIdx.x % LANES : 0; p < end; p += LANES) {
    sum += values[p] * x[col[p]];
  }
  for (int offset = LANES / 2; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, offset);
  }
  if (row < rows && threadIdx.x % LANES == 0) {
    y[row] = alpha * sum + beta * z[row];
  }
}
