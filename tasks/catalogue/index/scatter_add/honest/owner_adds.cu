/*@winnow
{ "launches": [ { "kernel": "scatter_add", "grid": ["rows"], "block": [64],
                  "args": ["x", "ids", "y", "dim", "items"] } ] }
@*/
// No atomics on y: the block of a row reads all ids, and lists those items of a part that are its.
extern "C" __global__ void scatter_add(const float* __restrict__ x, const int* __restrict__ ids,
                                       float* __restrict__ y, int dim, int items) {
  __shared__ int listed[512];
  __shared__ int count;
  float* sums = y + (size_t)blockIdx.x * dim;
  for (int c = threadIdx.x; c < dim; c += 64) {
    sums[c] = 0.0f;
  }
  for (int first = 0; first < items; first += 512) {
    if (threadIdx.x == 0) {
      count = 0;
    }
    __syncthreads();
    for (int t = first + threadIdx.x; t < min(first + 512, items); t += 64) {
      if (ids[t] == blockIdx.x) {
        listed[atomicAdd(&count, 1)] = t;
      }
    }
    __syncthreads();
    for (int c = threadIdx.x; c < dim && count > 0; c += 64) {
      float sum = sums[c];
      for (int i = 0; i < count; ++i) {
        sum += x[(size_t)listed[i] * dim + c];
      }
      sums[c] = sum;
    }
    __syncthreads();
  }
}
