/*@winnow
{
  "params": { "PER_LANE": [2, 1, 4], "WARPS": [4, 8] },
  "let": { "chunks": "ceil_div(n, 32 * PER_LANE)" },
  "launches": [
    { "kernel": "spmm<{PER_LANE}, {WARPS}>", "grid": ["ceil_div(rows * chunks, WARPS)"],
      "block": [32, "WARPS"],
      "args": ["row_ptr", "col", "values", "b", "c", "rows * chunks", "chunks", "n"] }
  ]
}
@*/
// A warp for each row and chunk of columns. It loads 32 entries of the row at once into shared
// memory (Huang et al., GE-SpMM, 2020); the lanes read neighbouring columns of b.
template <int PER_LANE, int WARPS>
__global__ void spmm(const int* __restrict__ row_ptr, const int* __restrict__ col,
                     const float* __restrict__ values, const float* __restrict__ b,
                     float* __restrict__ c, long long items, int chunks, int n) {
  __shared__ int columns[WARPS][32];
  __shared__ float factors[WARPS][32];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const long long item = (long long)blockIdx.x * WARPS + warp;
  if (item >= items) {
    return;
  }
  const int row = item / chunks, first = item % chunks * (32 * PER_LANE) + lane;
  const int end = row_ptr[row + 1];
  float sums[PER_LANE] = {};
  for (int start = row_ptr[row]; start < end; start += 32) {
    const int count = min(32, end - start);
    if (lane < count) {
      columns[warp][lane] = col[start + lane];
      factors[warp][lane] = values[start + lane];
    }
    __syncwarp();
    for (int e = 0; e < count; ++e) {
      const float* from = b + (size_t)columns[warp][e] * n;
      for (int i = 0; i < PER_LANE; ++i) {
        const int j = first + 32 * i;
        sums[i] += j < n ? factors[warp][e] * from[j] : 0.0f;
      }
    }
    __syncwarp();
  }
  for (int i = 0; i < PER_LANE; ++i) {
    const int j = first + 32 * i;
    if (j < n) {
      c[(size_t)row * n + j] = sums[i];
    }
  }
}
