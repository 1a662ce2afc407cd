/*@winnow
{
  "let": { "count": "images * filters * h * w" },
  "scratch": { "sums": { "dtype": "f32", "count": "count" } },
  "launches": [
    { "kernel": "conv", "grid": ["ceil_div(count, 64)"], "block": [64],
      "args": ["x", "weight", "sums", "count", "channels", "filters", "h", "w"] },
    { "kernel": "normalise", "grid": ["ceil_div(count, 128)"], "block": [128],
      "args": ["sums", "gamma", "beta", "mean", "variance", "eps", "count", "filters", "h * w"] },
    { "kernel": "relu", "grid": ["ceil_div(count, 128)"], "block": [128],
      "args": ["sums", "y", "count"] }
  ]
}
@*/
// Not fused. The convolution has one point a thread and one chain of additions.
#include <cuda_fp16.h>

extern "C" __global__ void conv(const __half* __restrict__ x, const __half* __restrict__ weight,
                                float* __restrict__ sums, int count, int channels, int filters,
                                int h, int w) {
  const int at = blockIdx.x * 64 + threadIdx.x;
  if (at >= count) {
    return;
  }
  const int column = at % w, row = at / w % h;
  const int filter = at / (w * h) % filters, image = at / (w * h * filters);
  float sum = 0.0f;
  for (int p = 0; p < channels; ++p) {
    const __half* plane = x + (size_t)(image * channels + p) * h * w;
    const __half* taps = weight + (size_t)(filter * channels + p) * 9;
    for (int r = max(row - 1, 0); r <= min(row + 1, h - 1); ++r) {
      for (int c = max(column - 1, 0); c <= min(column + 1, w - 1); ++c) {
        sum = fmaf(__half2float(taps[(r - row + 1) * 3 + c - column + 1]),
                   __half2float(plane[r * w + c]), sum);
      }
    }
  }
  sums[at] = sum;
}

extern "C" __global__ void normalise(float* sums, const float* __restrict__ gamma,
                                     const float* __restrict__ beta, const float* __restrict__ mean,
                                     const float* __restrict__ variance, float eps, int count,
                                     int filters, int points) {
  const int at = blockIdx.x * 128 + threadIdx.x;
  if (at < count) {
    const int filter = at / points % filters;
    const float deviation = sqrtf(variance[filter] + eps);
    sums[at] = (sums[at] - mean[filter]) / deviation * gamma[filter] + beta[filter];
  }
}

extern "C" __global__ void relu(const float* __restrict__ sums, __half* __restrict__ y, int count) {
  const int at = blockIdx.x * 128 + threadIdx.x;
  if (at < count) {
    y[at] = __float2half(sums[at] > 0.0f ? sums[at] : 0.0f);
  }
}
