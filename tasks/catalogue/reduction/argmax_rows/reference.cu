/*@winnow
{ "launches": [ { "kernel": "argmax_reference", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["x", "out", "rows", "cols"] } ] }
@*/
extern "C" __global__ void argmax_reference(const float* x, int* out, long long rows,
                                            long long cols) {
  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  long long best = 0;
  for (long long c = 1; c < cols; ++c) {
    if (x[row * cols + c] > x[row * cols + best]) {
      best = c;
    }
  }
  out[row] = best;
}
