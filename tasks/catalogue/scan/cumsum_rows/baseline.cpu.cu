/*@winnow
{
  "params": { "ROWS": [4, 1, 16] },
  "launches": [
    { "kernel": "cumsum<{ROWS}>", "grid": ["ceil_div(rows, ROWS)"], "block": [1],
      "args": ["x", "y", "rows", "cols"] }
  ]
}
@*/
// A block is one thread with a few rows, and scans four columns at a time: the sums within the four
// do not wait for the sum before them.
template <int ROWS>
__global__ void cumsum(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  for (int row = blockIdx.x * ROWS; row < min((int)(blockIdx.x + 1) * ROWS, rows); ++row) {
    const float* values = x + (size_t)row * cols;
    float* out = y + (size_t)row * cols;
    float sum = 0.0f;
    int c = 0;
    for (; c + 4 <= cols; c += 4) {
      const float two = values[c] + values[c + 1], next = values[c + 2] + values[c + 3];
      out[c] = sum + values[c];
      out[c + 1] = sum + two;
      out[c + 2] = sum + (two + values[c + 2]);
      sum += two + next;
      out[c + 3] = sum;
    }
    for (; c < cols; ++c) {
      sum += values[c];
      out[c] = sum;
    }
  }
}
