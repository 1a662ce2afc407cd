/*@winnow
{ "launches": [ { "kernel": "argmax", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["x", "out", "rows", "cols"] } ] }
@*/
// One thread a row, from the last column to the first.
extern "C" __global__ void argmax(const float* x, int* out, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const float* values = x + (size_t)row * cols;
  int best = cols - 1;
  for (int c = cols - 2; c >= 0; --c) {
    best = values[c] >= values[best] ? c : best;
  }
  out[row] = best;
}
