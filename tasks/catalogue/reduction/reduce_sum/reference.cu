/*@winnow
{ "launches": [ { "kernel": "sum_reference", "grid": [1], "block": [1024],
                  "args": ["x", "out", "out_magnitude", "n"] } ] }
@*/
// 1024 threads, each in double; their sums one after the other. One thread alone takes half a
// second for the largest shape of a GPU.
extern "C" __global__ void sum_reference(const float* x, double* out, double* magnitude,
                                         long long n) {
  __shared__ double sums[1024];
  __shared__ double sizes[1024];
  double sum = 0, size = 0;
  for (long long i = threadIdx.x; i < n; i += 1024) {
    sum += NARROW(term, (double)x[i]);
    size += fabs((double)x[i]);
  }
  sums[threadIdx.x] = sum = NARROW(partial_sum, sum);
  sizes[threadIdx.x] = size;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int thread = 1; thread < 1024; ++thread) {
      sum += sums[thread];
      size += sizes[thread];
    }
    out[0] = sum;
    magnitude[0] = size;
  }
}
