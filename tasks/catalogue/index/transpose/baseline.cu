/*@winnow
{
  "params": { "BY": [8, 16, 4] },
  "launches": [
    { "kernel": "transpose<{BY}>", "grid": ["ceil_div(rows, 32)", "ceil_div(cols, 32)"],
      "block": [32, "BY"], "args": ["x", "y", "rows", "cols"] }
  ]
}
@*/
// A tile of 32 x 32 in shared memory; the 33rd column keeps its columns in different banks.
template <int BY>
__global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  __shared__ float tile[32][33];
  const int top = blockIdx.x * 32, left = blockIdx.y * 32;
  for (int i = threadIdx.y; i < 32; i += BY) {
    if (top + i < rows && left + threadIdx.x < cols) {
      tile[i][threadIdx.x] = x[(size_t)(top + i) * cols + left + threadIdx.x];
    }
  }
  __syncthreads();
  for (int i = threadIdx.y; i < 32; i += BY) {
    if (left + i < cols && top + threadIdx.x < rows) {
      y[(size_t)(left + i) * rows + top + threadIdx.x] = tile[threadIdx.x][i];
    }
  }
}
