/*@winnow
{ "launches": [ { "kernel": "cross_entropy", "grid": ["ceil_div(rows, 4)"], "block": [32, 4],
                  "args": ["logits", "labels", "loss", "rows", "classes"] } ] }
@*/
// One warp a row in one pass: the sum is rescaled whenever the maximum grows; lanes merge by
// shuffles.
extern "C" __global__ void cross_entropy(const float* __restrict__ logits,
                                         const int* __restrict__ labels, float* __restrict__ loss,
                                         int rows, int classes) {
  const int row = blockIdx.x * 4 + threadIdx.y;
  if (row >= rows) {
    return;
  }
  const float* scores = logits + (size_t)row * classes;
  // A lane without elements has a finite maximum, so no difference of infinities arises.
  float largest = scores[0], sum = 0.0f;
  for (int c = threadIdx.x; c < classes; c += 32) {
    const float next = fmaxf(largest, scores[c]);
    sum = sum * expf(largest - next) + expf(scores[c] - next);
    largest = next;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffff, largest, offset);
    const float other_sum = __shfl_xor_sync(0xffffffff, sum, offset);
    const float next = fmaxf(largest, other);
    sum = sum * expf(largest - next) + other_sum * expf(other - next);
    largest = next;
  }
  if (threadIdx.x == 0) {
    loss[row] = largest + logf(sum) - scores[labels[row]];
  }
}
