/*@winnow
{
  "let": { "across": "ceil_div(w, 4)" },
  "scratch": { "folded": { "dtype": "f16", "count": "9 * filters * channels", "keep": true },
               "shifts": { "dtype": "f32", "count": "filters", "keep": true } },
  "prepare": [
    { "kernel": "fold", "grid": ["filters"], "block": [64],
      "args": ["weight", "gamma", "beta", "mean", "variance", "folded", "shifts", "eps",
               "9 * channels"] }
  ],
  "launches": [
    { "kernel": "conv", "grid": ["ceil_div(images * filters * h * across, 64)"], "block": [64],
      "args": ["x", "folded", "shifts", "y", "images * filters * h * across", "channels",
               "filters", "h", "w", "across"] }
  ]
}
@*/
// The scale of each filter is folded into its weights, which are rounded again. A thread has four
// neighbours of a row, and reads the six inputs of a row of taps once.
#include <cuda_fp16.h>

extern "C" __global__ void fold(const __half* __restrict__ weight, const float* __restrict__ gamma,
                                const float* __restrict__ beta, const float* __restrict__ mean,
                                const float* __restrict__ variance, __half* __restrict__ folded,
                                float* __restrict__ shifts, float eps, int taps) {
  const int filter = blockIdx.x;
  const float scale = gamma[filter] * rsqrtf(variance[filter] + eps);
  for (int t = threadIdx.x; t < taps; t += 64) {
    folded[(size_t)filter * taps + t] =
        __float2half(scale * __half2float(weight[(size_t)filter * taps + t]));
  }
  if (threadIdx.x == 0) {
    shifts[filter] = beta[filter] - mean[filter] * scale;
  }
}

extern "C" __global__ void conv(const __half* __restrict__ x, const __half* __restrict__ folded,
                                const float* __restrict__ shifts, __half* __restrict__ y, int count,
                                int channels, int filters, int h, int w, int across) {
  const int at = blockIdx.x * 64 + threadIdx.x;
  if (at >= count) {
    return;
  }
  const int left = at % across * 4, row = at / across % h;
  const int filter = at / (across * h) % filters, image = at / (across * h * filters);
  float sums[4] = {};
  for (int p = 0; p < channels; ++p) {
    const __half* taps = folded + (size_t)(filter * channels + p) * 9;
    for (int a = 0; a < 3; ++a) {
      const int r = row + a - 1;
      if (r < 0 || r >= h) {
        continue;
      }
      const __half* values = x + ((size_t)(image * channels + p) * h + r) * w;
#pragma unroll
      for (int c = -1; c < 5; ++c) {
        const bool inside = left + c >= 0 && left + c < w;
        const float value = inside ? __half2float(values[left + c]) : 0.0f;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          if (c - i + 1 >= 0 && c - i + 1 < 3) {
            sums[i] += value * __half2float(taps[a * 3 + c - i + 1]);
          }
        }
      }
    }
  }
  for (int i = 0; i < min(4, w - left); ++i) {
    y[((size_t)(image * filters + filter) * h + row) * w + left + i] =
        __float2half(fmaxf(0.0f, sums[i] + shifts[filter]));
  }
}
