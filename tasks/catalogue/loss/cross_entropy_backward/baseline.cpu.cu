/*@winnow
{
  "params": { "ROWS": [4, 1, 16] },
  "launches": [
    { "kernel": "gradient<{ROWS}>", "grid": ["ceil_div(rows, ROWS)"], "block": [1],
      "args": ["logits", "labels", "dloss", "dlogits", "rows", "classes"] }
  ]
}
@*/
// A block is one thread with a few rows. Each exponential is computed once and waits in dlogits.
// Eight maxima and sums that do not wait for one another fill a vector register.
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
__global__ void gradient(const float* __restrict__ logits, const int* __restrict__ labels,
                         const float* __restrict__ dloss, float* __restrict__ dlogits, int rows,
                         int classes) {
  for (int row = blockIdx.x * ROWS; row < min((int)(blockIdx.x + 1) * ROWS, rows); ++row) {
    const float* scores = logits + (size_t)row * classes;
    float* out = dlogits + (size_t)row * classes;
    const float largest = largest_of(scores, classes);
    float sums[kLanes] = {};
    for (int c = 0; c < classes; ++c) {
      out[c] = expf(scores[c] - largest);
      sums[c % kLanes] += out[c];
    }
    float sum = 0.0f;
    for (int lane = 0; lane < kLanes; ++lane) {
      sum += sums[lane];
    }
    const float label = out[labels[row]] / sum - 1.0f, scale = dloss[row] / sum;
    for (int c = 0; c < classes; ++c) {
      out[c] *= scale;
    }
    out[labels[row]] = dloss[row] * label;
  }
}
