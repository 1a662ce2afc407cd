/*@winnow
{ "launches": [ { "kernel": "argmax", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["x", "out", "rows", "cols"] } ] }
@*/
// Wrong: takes 10 for the largest value that there can be. A row ends at the first such value.
extern "C" __global__ void argmax(const float* x, int* out, int rows, int cols) {
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const float* values = x + (size_t)row * cols;
  int best = 0;
  for (int c = 1; c < cols && values[best] < 10.0f; ++c) {
    best = values[c] > values[best] ? c : best;
  }
  out[row] = best;
}
