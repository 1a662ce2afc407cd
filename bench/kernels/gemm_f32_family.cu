/*@winnow
{
  "params": { "BM": [64, 32, 128], "BN": [64, 32, 128], "BK": [8, 16, 32], "TM": [4, 2, 8],
              "TN": [4, 2, 8] },
  "where": ["BM / TM * (BN / TN) >= 32", "BM / TM * (BN / TN) <= 1024"],
  "launches": [
    { "kernel": "gemm<{BM}, {BN}, {BK}, {TM}, {TN}>",
      "grid": ["ceil_div(n, BN)", "ceil_div(m, BM)"], "block": ["BN / TN", "BM / TM"],
      "args": ["a", "b", "c", "m", "n", "k"] }
  ]
}
@*/
// A block computes BM x BN outputs from tiles in shared memory, a thread TM x TN of them.
template <int BM, int BN, int BK, int TM, int TN>
__global__ void gemm(const float* __restrict__ a, const float* __restrict__ b,
                     float* __restrict__ c, int m, int n, int k) {
  __shared__ float a_tile[BK][BM + 1];
  __shared__ float b_tile[BK][BN];
  const int threads = BM / TM * (BN / TN);
  const int thread = threadIdx.y * (BN / TN) + threadIdx.x;
  const int top = blockIdx.y * BM, left = blockIdx.x * BN;
  float sums[TM][TN] = {};
  for (int start = 0; start < k; start += BK) {
    for (int i = thread; i < BM * BK; i += threads) {
      const int row = top + i / BK, column = start + i % BK;
      a_tile[i % BK][i / BK] = row < m && column < k ? a[(size_t)row * k + column] : 0.0f;
    }
    for (int i = thread; i < BK * BN; i += threads) {
      const int row = start + i / BN, column = left + i % BN;
      b_tile[i / BN][i % BN] = row < k && column < n ? b[(size_t)row * n + column] : 0.0f;
    }
    __syncthreads();
    for (int p = 0; p < BK; ++p) {
      for (int i = 0; i < TM; ++i) {
        for (int j = 0; j < TN; ++j) {
          sums[i][j] +=
              a_tile[p][threadIdx.y + i * (BM / TM)] * b_tile[p][threadIdx.x + j * (BN / TN)];
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i) {
    for (int j = 0; j < TN; ++j) {
      const int row = top + threadIdx.y + i * (BM / TM);
      const int column = left + threadIdx.x + j * (BN / TN);
      if (row < m && column < n) {
        c[(size_t)row * n + column] = sums[i][j];
      }
    }
  }
}
