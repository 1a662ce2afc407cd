/*@winnow
{
  "let": { "chunks": "ceil_div(n, 16)" },
  "launches": [ { "kernel": "spmm", "grid": ["rows * chunks"], "block": [16, 4],
                  "args": ["row_ptr", "col", "values", "b", "c", "chunks", "n"] } ]
}
@*/
// One block for each row and 16 columns: four sums for each column, added in shared memory.
extern "C" __global__ void spmm(const int* __restrict__ row_ptr, const int* __restrict__ col,
                                const float* __restrict__ values, const float* __restrict__ b,
                                float* __restrict__ c, int chunks, int n) {
  __shared__ float sums[4][16];
  const int row = blockIdx.x / chunks, j = blockIdx.x % chunks * 16 + threadIdx.x;
  float sum = 0.0f;
  for (int p = row_ptr[row] + threadIdx.y; p < row_ptr[row + 1]; p += 4) {
    sum += j < n ? values[p] * b[(size_t)col[p] * n + j] : 0.0f;
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0 && j < n) {
    c[(size_t)row * n + j] = (sums[0][threadIdx.x] + sums[1][threadIdx.x]) +
                             (sums[2][threadIdx.x] + sums[3][threadIdx.x]);
  }
}
