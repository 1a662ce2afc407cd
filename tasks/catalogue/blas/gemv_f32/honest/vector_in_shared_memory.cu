/*@winnow
{ "launches": [ { "kernel": "gemv", "grid": ["ceil_div(m, 8)"], "block": [32, 8],
                  "args": ["a", "x", "y", "alpha", "m", "n"] } ] }
@*/
// Eight rows a block share a part of x in shared memory; a tree adds the sums of the threads.
extern "C" __global__ void gemv(const float* __restrict__ a, const float* __restrict__ x,
                                float* __restrict__ y, float alpha, int m, int n) {
  __shared__ float part[512];
  __shared__ float sums[8][32];
  const int row = blockIdx.x * 8 + threadIdx.y, thread = threadIdx.y * 32 + threadIdx.x;
  float sum = 0.0f;
  for (int first = 0; first < n; first += 512) {
    __syncthreads();
    for (int j = thread; j < min(512, n - first); j += 256) {
      part[j] = x[first + j];
    }
    __syncthreads();
    for (int j = threadIdx.x; j < min(512, n - first) && row < m; j += 32) {
      sum += a[(size_t)row * n + first + j] * part[j];
    }
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  for (int half = 16; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      sums[threadIdx.y][threadIdx.x] += sums[threadIdx.y][threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0 && row < m) {
    y[row] = alpha * sums[threadIdx.y][0];
  }
}
