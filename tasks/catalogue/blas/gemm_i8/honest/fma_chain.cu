/*@winnow
{
  "params": { "BLOCK": [64] },
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, BLOCK)", "m"], "block": ["BLOCK"],
      "args": ["a", "b", "c", "m", "n", "k"] }
  ]
}
@*/
// One thread an output, one product after the other.
__device__ int left(const signed char* a, int row, int p, int k) {
  return a[(size_t)row * k + p];
}
__device__ int right(const signed char* b, int p, int column, int n, int k) {
  return b[(size_t)column * k + p];
}

__global__ void gemm(const signed char* __restrict__ a, const signed char* __restrict__ b,
                     int* __restrict__ c, int m, int n, int k) {
  const int row = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) {
    return;
  }
  int sum = 0;
  for (int p = 0; p < k; ++p) {
    sum += left(a, row, p, k) * right(b, p, column, n, k);
  }
  c[(size_t)row * n + column] = sum;
}
