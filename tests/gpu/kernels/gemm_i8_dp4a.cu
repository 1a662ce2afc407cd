/*@winnow
{
  "launches": [
    { "kernel": "gemm_dp4a", "grid": ["ceil_div(n, 16)", "ceil_div(m, 16)"], "block": [16, 16],
      "args": ["a", "b", "c", "m", "n", "k"] }
  ]
}
@*/
// Four products an instruction: a thread sums one output over words of four neighbours along k.
__device__ int word(const signed char* row, int first, int k) {
  unsigned bits = 0;
  for (int i = 0; i < 4; ++i) {
    bits |= (first + i < k ? (unsigned char)row[first + i] : 0u) << 8 * i;
  }
  return (int)bits;
}

extern "C" __global__ void gemm_dp4a(const signed char* a, const signed char* b, int* c, int m,
                                     int n, int k) {
  __shared__ int a_tile[16][17];
  __shared__ int b_tile[16][17];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  const int b_row = blockIdx.x * 16 + threadIdx.y;
  int sum = 0;
  for (int start = 0; start < k; start += 64) {
    const int first = start + 4 * threadIdx.x;
    a_tile[threadIdx.y][threadIdx.x] = row < m ? word(a + (size_t)row * k, first, k) : 0;
    b_tile[threadIdx.y][threadIdx.x] = b_row < n ? word(b + (size_t)b_row * k, first, k) : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) {
      sum = __dp4a(a_tile[threadIdx.y][i], b_tile[threadIdx.x][i], sum);
    }
    __syncthreads();
  }
  if (row < m && column < n) {
    c[(size_t)row * n + column] = sum;
  }
}
