/*@winnow
{ "launches": [ { "kernel": "cumsum", "grid": ["rows"], "block": [64],
                  "args": ["x", "y", "cols"] } ] }
@*/
// A thread adds a run of neighbours; a scan over threads in shared memory; each run is added again.
extern "C" __global__ void cumsum(const float* __restrict__ x, float* __restrict__ y, int cols) {
  __shared__ float sums[64];
  const float* row = x + (size_t)blockIdx.x * cols;
  const int run = (cols + 63) / 64;
  const int begin = min(threadIdx.x * run, cols), end = min(begin + run, cols);
  float sum = 0.0f;
  for (int c = begin; c < end; ++c) {
    sum += row[c];
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int offset = 1; offset < 64; offset *= 2) {
    const float left = threadIdx.x >= offset ? sums[threadIdx.x - offset] : 0.0f;
    __syncthreads();
    sums[threadIdx.x] += left;
    __syncthreads();
  }
  sum = threadIdx.x > 0 ? sums[threadIdx.x - 1] : 0.0f;
  for (int c = begin; c < end; ++c) {
    sum += row[c];
    y[(size_t)blockIdx.x * cols + c] = sum;
  }
}
