/*@winnow
{
  "let": { "rows": "min(h, 2 * radius + 1)", "columns": "min(w, 2 * radius + 1)" },
  "launches": [
    { "kernel": "attention", "grid": ["ceil_div(w, 8)", "h", "planes"], "block": [1],
      "shared_bytes": "4 * (2 * rows * (columns + 7) * d + rows * columns + 2 * d)",
      "args": ["q", "k", "v", "out", "radius", { "float": "scale / sqrt(d)" }, "h", "w", "d"] }
  ]
}
@*/
// A block is one thread with eight queries of a row. It takes the keys and values of all their
// windows as floats; then each query has a softmax over its own window.
#include <cuda_fp16.h>

__global__ void attention(const __half* __restrict__ q, const __half* __restrict__ k,
                          const __half* __restrict__ v, __half* __restrict__ out, int radius,
                          float scale, int h, int w, int d) {
  extern __shared__ float shared[];
  const int rows = min(h, 2 * radius + 1), columns = min(w, 2 * radius + 1);
  const int begin = blockIdx.x * 8, end = min(begin + 8, w), y = blockIdx.y;
  const auto left_of = [&](int x) { return max(0, min(x - radius, w - columns)); };
  const int left = left_of(begin), width = left_of(end - 1) + columns - left;
  const int top = max(0, min(y - radius, h - rows));
  const size_t plane = (size_t)blockIdx.z * h;
  float *keys = shared, *values = keys + rows * width * d, *weights = values + rows * width * d;
  float *query = weights + rows * columns, *sums = query + d;
  for (int row = 0; row < rows; ++row) {
    const size_t from = ((plane + top + row) * w + left) * d;
    for (int c = 0; c < width * d; ++c) {
      keys[row * width * d + c] = __half2float(k[from + c]);
      values[row * width * d + c] = __half2float(v[from + c]);
    }
  }
  for (int x = begin; x < end; ++x) {
    const size_t at = ((plane + y) * w + x) * d;
    for (int c = 0; c < d; ++c) {
      query[c] = scale * __half2float(q[at + c]);
      sums[c] = 0.0f;
    }
    const auto place = [&](int i) {
      return (i / columns * width + left_of(x) - left + i % columns) * d;
    };
    float largest = -INFINITY, total = 0.0f;
    for (int i = 0; i < rows * columns; ++i) {
      const float* key = keys + place(i);
      float lanes[8] = {};
      for (int c = 0; c < d; ++c) {
        lanes[c % 8] += query[c] * key[c];
      }
      weights[i] = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
                   ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
      largest = fmaxf(largest, weights[i]);
    }
    for (int i = 0; i < rows * columns; ++i) {
      const float weight = expf(weights[i] - largest), *value = values + place(i);
      total += weight;
      for (int c = 0; c < d; ++c) {
        sums[c] += weight * value[c];
      }
    }
    for (int c = 0; c < d; ++c) {
      out[at + c] = __float2half(sums[c] / total);
    }
  }
}
