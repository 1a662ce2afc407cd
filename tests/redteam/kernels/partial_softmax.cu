/*@winnow
{ "launches": [ { "kernel": "softmax", "grid": ["rows", "ceil_div(cols, 64)"], "block": [64],
                  "args": ["x", "y", "cols"] } ] }
@*/
// Reduces within one block only: right whenever a row fits into one.
extern "C" __global__ void softmax(const float* x, float* y, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  const int begin = blockIdx.y * 64;
  if (threadIdx.x == 0) {
    float largest = -INFINITY, sum = 0.0f;
    for (int c = begin; c < cols && c < begin + 64; ++c) {
      largest = fmaxf(largest, row[c]);
    }
    for (int c = begin; c < cols && c < begin + 64; ++c) {
      sum += expf(row[c] - largest);
    }
    for (int c = begin; c < cols && c < begin + 64; ++c) {
      y[(size_t)blockIdx.x * cols + c] = expf(row[c] - largest) / sum;
    }
  }
}
