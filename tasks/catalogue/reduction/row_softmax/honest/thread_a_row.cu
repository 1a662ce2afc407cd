/*@winnow
{
  "params": { "BLOCK": [32] },
  "launches": [
    { "kernel": "row_softmax", "grid": ["ceil_div(rows, BLOCK)"], "block": ["BLOCK"],
      "args": ["x", "y", "rows", "cols"] }
  ]
}
@*/
// One thread a row: exponentials are written first, then multiplied by one over their sum.
extern "C" __global__ void row_softmax(const float* __restrict__ x, float* __restrict__ y, int rows,
                                       int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const float* scores = x + (size_t)row * cols;
  float* out = y + (size_t)row * cols;
  float largest = scores[0];
  for (int c = 1; c < cols; ++c) {
    largest = fmaxf(largest, scores[c]);
  }
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    out[c] = expf(scores[c] - largest);
    sum += out[c];
  }
  const float inverse = 1.0f / sum;
  for (int c = 0; c < cols; ++c) {
    out[c] *= inverse;
  }
}
