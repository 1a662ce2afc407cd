/*@winnow
{ "launches": [ { "kernel": "row_by_a_thread", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["x", "y", "scale", "rows", "cols"] } ] }
@*/
// One thread a row: the longest chain of additions. TO DO: two more files beside this one, each with
// another algorithm. The tolerance must accept all of them.
extern "C" __global__ void row_by_a_thread(const float* x, float* y, float scale, int rows,
                                           int cols) {
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const float* in = x + (size_t)row * cols;
  float* out = y + (size_t)row * cols;
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    sum += 0.0f; // TO DO: what is added over a row, or no sum
  }
  for (int c = 0; c < cols; ++c) {
    out[c] = 0.0f; // TO DO: the element
  }
}
