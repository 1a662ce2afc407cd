/*@winnow
{
  "params": { "ROWS": [4, 1, 16] },
  "launches": [
    { "kernel": "cross_entropy<{ROWS}>", "grid": ["ceil_div(rows, ROWS)"], "block": [1],
      "args": ["logits", "labels", "loss", "rows", "classes"] }
  ]
}
@*/
// A block is one thread with a few rows. Eight maxima and sums that do not wait for one another
// fill a vector register.
constexpr int kLanes = 8;

__device__ float largest_of(const float* x, int n) {
  float lanes[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    lanes[lane] = -INFINITY;
  }
  int i = 0;
  for (; i + kLanes <= n; i += kLanes) {
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = x[i + lane] > lanes[lane] ? x[i + lane] : lanes[lane];
    }
  }
  float largest = -INFINITY;
  for (; i < n; ++i) {
    largest = fmaxf(largest, x[i]);
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    largest = fmaxf(largest, lanes[lane]);
  }
  return largest;
}

template <int ROWS>
__global__ void cross_entropy(const float* __restrict__ logits, const int* __restrict__ labels,
                              float* __restrict__ loss, int rows, int classes) {
  for (int row = blockIdx.x * ROWS; row < min((int)(blockIdx.x + 1) * ROWS, rows); ++row) {
    const float* scores = logits + (size_t)row * classes;
    const float largest = largest_of(scores, classes);
    float sums[kLanes] = {};
    for (int c = 0; c < classes; ++c) {
      sums[c % kLanes] += expf(scores[c] - largest);
    }
    float sum = 0.0f;
    for (int lane = 0; lane < kLanes; ++lane) {
      sum += sums[lane];
    }
    loss[row] = logf(sum) + (largest - scores[labels[row]]);
  }
}
