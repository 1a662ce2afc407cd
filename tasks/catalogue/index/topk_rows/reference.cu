/*@winnow
{ "launches": [ { "kernel": "topk_reference", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["x", "values", "values_magnitude", "indices", "rows", "cols", "k"] } ] }
@*/
extern "C" __global__ void topk_reference(const float* x, double* values, double* magnitude,
                                          int* indices, long long rows, long long cols,
                                          long long k) {
  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  double* found = values + row * k;
  int* places = indices + row * k;
  long long count = 0; // elements found so far, in order
  for (long long c = 0; c < cols; ++c) {
    const double value = NARROW(value, x[row * cols + c]);
    if (count == k && found[k - 1] >= value) {
      continue;
    }
    long long at = count < k ? count++ : k - 1;
    for (; at > 0 && found[at - 1] < value; --at) {
      found[at] = found[at - 1];
      places[at] = places[at - 1];
    }
    found[at] = value;
    places[at] = (int)c;
  }
  for (long long i = 0; i < k; ++i) {
    magnitude[row * k + i] = 0; // values are copied
  }
}
