/*@winnow
{ "launches": [ { "kernel": "gradient", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["logits", "labels", "dloss", "dlogits", "rows", "classes"] } ] }
@*/
// One thread a row, sums of 128 terms: the longest chains of additions. The exponentials wait in
// the output.
extern "C" __global__ void gradient(const float* logits, const int* labels, const float* dloss,
                                    float* dlogits, int rows, int classes) {
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const float* scores = logits + (size_t)row * classes;
  float* out = dlogits + (size_t)row * classes;
  float largest = scores[0];
  for (int c = 1; c < classes; ++c) {
    largest = fmaxf(largest, scores[c]);
  }
  float sum = 0.0f, block = 0.0f;
  for (int c = 0; c < classes; ++c) {
    const float term = expf(scores[c] - largest);
    block += term;
    if (c % 128 == 127) {
      sum += block;
      block = 0.0f;
    }
    out[c] = term;
  }
  const float factor = dloss[row] / (sum + block);
  for (int c = 0; c < classes; ++c) {
    out[c] *= factor;
  }
  out[labels[row]] -= dloss[row];
}
