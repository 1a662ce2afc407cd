/*@winnow
{ "launches": [ { "kernel": "scatter_add", "grid": ["ceil_div(rows, 16)"], "block": [64],
                  "args": ["x", "ids", "y", "rows", "dim", "items"] } ] }
@*/
// No atomics on y: the block of 16 rows reads all ids, and lists the items of a part that it adds.
extern "C" __global__ void scatter_add(const float* __restrict__ x, const int* __restrict__ ids,
                                       float* __restrict__ y, int rows, int dim, int items) {
  __shared__ int listed[512];
  __shared__ int count;
  for (int row = blockIdx.x * 16; row < min((int)blockIdx.x * 16 + 16, rows); ++row) {
    for (int c = threadIdx.x; c < dim; c += 64) {
      y[(size_t)row * dim + c] = 0.0f;
    }
  }
  for (int first = 0; first < items; first += 512) {
    if (threadIdx.x == 0) {
      count = 0;
    }
    __syncthreads();
    for (int t = first + threadIdx.x; t < min(first + 512, items); t += 64) {
      if (ids[t] / 16 == blockIdx.x) {
        listed[atomicAdd(&count, 1)] = t;
      }
    }
    __syncthreads();
    for (int c = threadIdx.x; c < dim; c += 64) { // a thread adds to a column alone
      for (int i = 0; i < count; ++i) {
        y[(size_t)ids[listed[i]] * dim + c] += x[(size_t)listed[i] * dim + c];
      }
    }
    __syncthreads();
  }
}
