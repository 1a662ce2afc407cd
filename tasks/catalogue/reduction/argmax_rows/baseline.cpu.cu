/*@winnow
{
  "params": { "ROWS": [4, 1, 16] },
  "launches": [
    { "kernel": "argmax<{ROWS}>", "grid": ["ceil_div(rows, ROWS)"], "block": [1],
      "args": ["x", "out", "rows", "cols"] }
  ]
}
@*/
// A block is one thread with a few rows: the maximum by eight lanes of a vector register, then the
// first element that is equal to it.
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
__global__ void argmax(const float* __restrict__ x, int* __restrict__ out, int rows, int cols) {
  for (int row = blockIdx.x * ROWS; row < min((int)(blockIdx.x + 1) * ROWS, rows); ++row) {
    const float* values = x + (size_t)row * cols;
    const float largest = largest_of(values, cols);
    int first = 0;
    while (values[first] != largest) {
      ++first;
    }
    out[row] = first;
  }
}
