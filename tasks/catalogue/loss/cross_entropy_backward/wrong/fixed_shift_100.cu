/*@winnow
{ "launches": [ { "kernel": "gradient", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["logits", "labels", "dloss", "dlogits", "rows", "classes"] } ] }
@*/
// Wrong: takes 100 for the maximum of every row. Logits of 0 vanish, and logits of 200 give
// infinity.
extern "C" __global__ void gradient(const float* logits, const int* labels, const float* dloss,
                                    float* dlogits, int rows, int classes) {
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const float* scores = logits + (size_t)row * classes;
  float* out = dlogits + (size_t)row * classes;
  float sum = 0.0f;
  for (int c = 0; c < classes; ++c) {
    out[c] = expf(scores[c] - 100.0f);
    sum += out[c];
  }
  const float factor = dloss[row] / sum;
  for (int c = 0; c < classes; ++c) {
    out[c] *= factor;
  }
  out[labels[row]] -= dloss[row];
}
