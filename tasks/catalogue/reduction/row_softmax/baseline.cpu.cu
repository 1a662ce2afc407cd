/*@winnow
{
  "params": { "ROWS": [4, 1, 16] },
  "launches": [
    { "kernel": "row_softmax<{ROWS}>", "grid": ["ceil_div(rows, ROWS)"], "block": [1],
      "args": ["x", "y", "rows", "cols"] }
  ]
}
@*/
// A block is one thread with a few rows, which stay in the first cache. Each exponential is
// computed once and waits in y.
template <int ROWS>
__global__ void row_softmax(const float* __restrict__ x, float* __restrict__ y, int rows,
                            int cols) {
  for (int row = blockIdx.x * ROWS; row < min((int)(blockIdx.x + 1) * ROWS, rows); ++row) {
    const float* scores = x + (size_t)row * cols;
    float* out = y + (size_t)row * cols;
    float largest = -INFINITY;
    for (int c = 0; c < cols; ++c) {
      largest = fmaxf(largest, scores[c]);
    }
    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) {
      out[c] = expf(scores[c] - largest);
      sum += out[c];
    }
    const float scale = 1.0f / sum;
    for (int c = 0; c < cols; ++c) {
      out[c] *= scale;
    }
  }
}
