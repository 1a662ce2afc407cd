/*@winnow
{
  "launches": [
    { "kernel": "row_softmax", "grid": ["ceil_div(rows, 4)"], "block": [32, 4],
      "args": ["x", "y", "rows", "cols"] }
  ]
}
@*/
// One warp a row: maximum and sum in one pass, the sum rescaled whenever the maximum grows (online
// softmax); lanes are merged by shuffles.
extern "C" __global__ void row_softmax(const float* __restrict__ x, float* __restrict__ y, int rows,
                                       int cols) {
  const int row = blockIdx.x * 4 + threadIdx.y;
  if (row >= rows) {
    return;
  }
  const float* scores = x + (size_t)row * cols;
  float largest = -INFINITY, sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float score = scores[c];
    const float next = fmaxf(largest, score);
    sum = sum * expf(largest - next) + expf(score - next);
    largest = next;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffff, largest, offset);
    const float other_sum = __shfl_xor_sync(0xffffffff, sum, offset);
    const float next = fmaxf(largest, other);
    // A lane without elements has -inf, and -inf - -inf is no number.
    const float mine = largest == -INFINITY ? 0.0f : sum * expf(largest - next);
    const float theirs = other == -INFINITY ? 0.0f : other_sum * expf(other - next);
    sum = mine + theirs;
    largest = next;
  }
  for (int c = threadIdx.x; c < cols; c += 32) {
    y[(size_t)row * cols + c] = expf(scores[c] - largest) / sum;
  }
}
