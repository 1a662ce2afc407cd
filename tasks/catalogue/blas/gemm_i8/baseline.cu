/*@winnow
{
  "params": { "TILE": [16, 32, 8] },
  "launches": [
    { "kernel": "gemm<{TILE}>", "grid": ["ceil_div(n, TILE)", "ceil_div(m, TILE)"],
      "block": ["TILE", "TILE"],
      "args": ["a", "b", "c", "m", "n", "k"] }
  ]
}
@*/
// One thread an output; tiles of a and b in shared memory as int, zero-padded at the edges.
template <int TILE>
__global__ void gemm(const signed char* __restrict__ a, const signed char* __restrict__ b,
                     int* __restrict__ c, int m, int n, int k) {
  __shared__ int a_tile[TILE][TILE];
  __shared__ int b_tile[TILE][TILE + 1];
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int column = blockIdx.x * TILE + threadIdx.x;
  int sum = 0;
  for (int start = 0; start < k; start += TILE) {
    const int inner = start + threadIdx.x;
    a_tile[threadIdx.y][threadIdx.x] = row < m && inner < k ? a[(size_t)row * k + inner] : 0;
    // b is transposed on its way into shared memory: neighbouring threads read along k.
    const int b_row = blockIdx.x * TILE + threadIdx.y;
    b_tile[threadIdx.x][threadIdx.y] = b_row < n && inner < k ? b[(size_t)b_row * k + inner] : 0;
    __syncthreads();
    for (int p = 0; p < TILE; ++p) {
      sum += a_tile[threadIdx.y][p] * b_tile[p][threadIdx.x];
    }
    __syncthreads();
  }
  if (row < m && column < n) {
    c[(size_t)row * n + column] = sum;
  }
}
