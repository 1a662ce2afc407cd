/*@winnow
{ "launches": [ { "kernel": "spmv", "grid": ["rows"], "block": [64],
                  "args": ["row_ptr", "col", "values", "x", "z", "y", "alpha", "beta"] } ] }
@*/
// One block a row, merged by a tree in shared memory. Most threads of a short row do nothing.
extern "C" __global__ void spmv(const int* __restrict__ row_ptr, const int* __restrict__ col,
                                const float* __restrict__ values, const float* __restrict__ x,
                                const float* __restrict__ z, float* __restrict__ y, float alpha,
                                float beta) {
  __shared__ float sums[64];
  float sum = 0.0f;
  for (int p = row_ptr[blockIdx.x] + threadIdx.x; p < row_ptr[blockIdx.x + 1]; p += 64) {
    sum += values[p] * x[col[p]];
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    y[blockIdx.x] = alpha * sums[0] + beta * z[blockIdx.x];
  }
}
