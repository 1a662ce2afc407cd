/*@winnow
{
  "launches": [
    { "fill": "y", "value": 0 },
    { "fill": "y_magnitude", "value": 0 },
    { "kernel": "scatter_reference", "grid": ["ceil_div(items * dim, 256)"], "block": [256],
      "args": ["x", "ids", "y", "y_magnitude", "items * dim", "dim"] }
  ]
}
@*/
extern "C" __global__ void scatter_reference(const float* x, const int* ids, double* y,
                                             double* magnitude, long long count, long long dim) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < count) {
    const long long at = ids[i / dim] * dim + i % dim;
    atomicAdd(&y[at], NARROW(term, (double)x[i]));
    atomicAdd(&magnitude[at], fabs((double)x[i]));
  }
}
