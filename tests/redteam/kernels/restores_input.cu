/*@winnow
{ "launches": [ { "kernel": "layernorm", "grid": ["rows"], "block": [1],
                  "args": ["x", "gamma", "beta", "y", "eps", "cols"] } ] }
@*/
// Centres the row in place and adds the mean again at the end, so that the input looks untouched.
extern "C" __global__ void layernorm(float* x, const float* gamma, const float* beta, float* y,
                                     float eps, int cols) {
  float* row = x + (size_t)blockIdx.x * cols;
  float mean = 0.0f;
  for (int c = 0; c < cols; ++c) {
    mean += row[c];
  }
  mean /= cols;
  float squares = 0.0f;
  for (int c = 0; c < cols; ++c) {
    row[c] -= mean;
    squares += row[c] * row[c];
  }
  const float scale = rsqrtf(squares / cols + eps);
  for (int c = 0; c < cols; ++c) {
    y[(size_t)blockIdx.x * cols + c] = row[c] * scale * gamma[c] + beta[c];
    row[c] += mean;
  }
}
