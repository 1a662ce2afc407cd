/*@winnow
{
  "let": { "columns": "ceil_div(d, 8)", "width": "min(w, 2 * radius + 8)" },
  "launches": [
    { "kernel": "attention<{columns}>", "grid": ["ceil_div(w, 8)", "h", "planes"],
      "block": [8, 8], "shared_bytes": "8 * width * d",
      "args": ["q", "k", "v", "out", "radius", { "float": "scale / sqrt(d)" }, "h", "w", "d",
               "width"] }
  ]
}
@*/
// A block has 8 queries of a row and loads the keys and values of their windows row by row into
// shared memory. Eight threads share the columns of a query and merge dot products by shuffles; the
// weights are rounded to half precision, as tensor cores take them.
#include <cuda_fp16.h>

template <int COLUMNS>
__global__ void attention(const __half* __restrict__ q, const __half* __restrict__ k,
                          const __half* __restrict__ v, __half* __restrict__ out, int radius,
                          float scale, int h, int w, int d, int width) {
  extern __shared__ float keys[];
  float* values = keys + width * d;
  const int x = min((int)blockIdx.x * 8 + (int)threadIdx.y, w - 1), y = blockIdx.y;
  const int part = threadIdx.x, thread = threadIdx.y * 8 + threadIdx.x;
  const int rows = min(h, 2 * radius + 1), columns = min(w, 2 * radius + 1);
  const int top = max(0, min(y - radius, h - rows)), left = max(0, min(x - radius, w - columns));
  const int begin = max(0, min((int)blockIdx.x * 8 - radius, w - columns));
  const int count = min(width, w - begin);
  const size_t plane = (size_t)blockIdx.z * h * w;
  const size_t at = (plane + (size_t)y * w + x) * d;
  float query[COLUMNS], sums[COLUMNS] = {};
  for (int c = 0; c < COLUMNS; ++c) {
    query[c] = part + 8 * c < d ? scale * __half2float(q[at + part + 8 * c]) : 0.0f;
  }
  float largest = -INFINITY, total = 0.0f;
  for (int i = top; i < top + rows; ++i) {
    const size_t from = (plane + (size_t)i * w + begin) * d;
    for (int t = thread; t < count * d; t += 64) {
      keys[t] = __half2float(k[from + t]);
      values[t] = __half2float(v[from + t]);
    }
    __syncthreads();
    for (int j = left - begin; j < left - begin + columns; ++j) {
      float score = 0.0f;
      for (int c = 0; c < COLUMNS; ++c) {
        score += part + 8 * c < d ? query[c] * keys[j * d + part + 8 * c] : 0.0f;
      }
      for (int offset = 4; offset > 0; offset /= 2) {
        score += __shfl_xor_sync(0xffffffff, score, offset, 8);
      }
      const float maximum = fmaxf(largest, score);
      const float shrink = expf(largest - maximum), weight = expf(score - maximum);
      const float rounded = __half2float(__float2half(weight));
      total = total * shrink + weight;
      for (int c = 0; c < COLUMNS; ++c) {
        sums[c] *= shrink;
        sums[c] += part + 8 * c < d ? rounded * values[j * d + part + 8 * c] : 0.0f;
      }
      largest = maximum;
    }
    __syncthreads();
  }
  for (int c = 0; c < COLUMNS; ++c) {
    if (blockIdx.x * 8 + threadIdx.y < w && part + 8 * c < d) {
      out[at + part + 8 * c] = __float2half(sums[c] / total);
    }
  }
}
