/*@winnow
{ "launches": [ { "kernel": "cumsum_reference", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["x", "y", "y_magnitude", "rows", "cols"] } ] }
@*/
extern "C" __global__ void cumsum_reference(const float* x, double* y, double* magnitude,
                                            long long rows, long long cols) {
  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  double sum = 0, block = 0, size = 0;
  for (long long c = 0; c < cols; ++c) {
    block += NARROW(term, x[row * cols + c]);
    size += fabs((double)x[row * cols + c]);
    y[row * cols + c] = sum + block;
    magnitude[row * cols + c] = size;
    if (c % 128 == 127) { // a block that a kernel adds up first
      sum += NARROW(partial_sum, block);
      block = 0;
    }
  }
}
