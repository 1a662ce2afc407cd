/*@winnow
{ "launches": [ { "kernel": "cross_entropy", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["logits", "labels", "loss", "rows", "classes"] } ] }
@*/
// One thread a row, sums of 128 terms: the longest chains of additions. Logits are taken relative
// to the label's logit.
extern "C" __global__ void cross_entropy(const float* logits, const int* labels, float* loss,
                                         int rows, int classes) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const float* scores = logits + (size_t)row * classes;
  const float chosen = scores[labels[row]];
  float largest = scores[0] - chosen;
  for (int c = 1; c < classes; ++c) {
    largest = fmaxf(largest, scores[c] - chosen);
  }
  float sum = 0.0f, block = 0.0f;
  for (int c = 0; c < classes; ++c) {
    block += expf(scores[c] - chosen - largest);
    if (c % 128 == 127) {
      sum += block;
      block = 0.0f;
    }
  }
  loss[row] = largest + logf(sum + block);
}
