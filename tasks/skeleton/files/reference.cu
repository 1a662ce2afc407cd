/*@winnow
{ "launches": [ { "kernel": "reference", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["x", "y", "y_magnitude", "scale", "rows", "cols"] } ] }
@*/
// One thread a row, all in double: the plainest way. y_magnitude says how large the terms are whose
// rounding an honest kernel cannot avoid (docs/task.md): |y| for a product or a quotient, the sum of
// the sizes of its terms for a sum, 0 for a copy. NARROW(name, expression) marks an intermediate that a
// kernel could round to a coarser format: the selftest tries that, and the limit must refuse it.
extern "C" __global__ void reference(const float* x, double* y, double* magnitude, float scale,
                                     long long rows, long long cols) {
  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  double sum = 0;
  for (long long c = 0; c < cols; ++c) {
    sum += NARROW(term, 0); // TO DO: what is added over a row, or no sum
  }
  for (long long c = 0; c < cols; ++c) {
    const long long at = row * cols + c;
    y[at] = 0;         // TO DO: the element
    magnitude[at] = 0; // TO DO: its magnitude
  }
}
