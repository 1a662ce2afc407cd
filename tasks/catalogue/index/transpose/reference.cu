/*@winnow
{ "launches": [ { "kernel": "transpose_reference", "grid": ["ceil_div(rows * cols, 64)"],
                  "block": [64],
                  "args": ["x", "y", "y_magnitude", "rows", "rows * cols", "cols"] } ] }
@*/
extern "C" __global__ void transpose_reference(const float* x, double* y, double* magnitude,
                                               long long rows, long long count, long long cols) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < count) {
    const long long at = i % cols * rows + i / cols;
    y[at] = NARROW(value, x[i]);
    magnitude[at] = 0;
  }
}
