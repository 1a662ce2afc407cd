/*@winnow
{
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 16)", "ceil_div(m, 16)"], "block": [16, 16],
      "args": ["a", "b", "c", "m", "n", "k"] }
  ]
}
@*/
// Whole tiles of k only: what remains of k past the last multiple of 16 is dropped.
extern "C" __global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float a_tile[16][16], b_tile[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  for (int start = 0; start + 16 <= k; start += 16) {
    a_tile[threadIdx.y][threadIdx.x] = row < m ? a[row * k + start + threadIdx.x] : 0.0f;
    b_tile[threadIdx.y][threadIdx.x] = column < n ? b[(start + threadIdx.y) * n + column] : 0.0f;
    __syncthreads();
    for (int p = 0; p < 16; ++p) {
      sum += a_tile[threadIdx.y][p] * b_tile[p][threadIdx.x];
    }
    __syncthreads();
  }
  if (row < m && column < n) {
    c[row * n + column] = sum;
  }
}
