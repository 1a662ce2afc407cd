/*@winnow
{ "launches": [ { "kernel": "row_softmax", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["x", "y", "rows", "cols"] } ] }
@*/
// Wrong: takes every score for a small number, and so subtracts no maximum before exp.
extern "C" __global__ void row_softmax(const float* x, float* y, int rows, int cols) {
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const float* scores = x + (size_t)row * cols;
  float* out = y + (size_t)row * cols;
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    out[c] = expf(scores[c]);
    sum += out[c];
  }
  for (int c = 0; c < cols; ++c) {
    out[c] /= sum;
  }
}
