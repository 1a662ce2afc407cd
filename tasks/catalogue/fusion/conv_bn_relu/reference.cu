/*@winnow
{ "launches": [ { "kernel": "conv_reference", "grid": ["ceil_div(images * filters * h * w, 64)"],
                  "block": [64],
                  "args": ["x", "weight", "gamma", "beta", "mean", "variance", "y", "y_magnitude",
                           "eps", "images * filters * h * w", "channels", "filters", "h", "w"] } ] }
@*/
#include <cuda_fp16.h>

extern "C" __global__ void conv_reference(const __half* x, const __half* weight, const float* gamma,
                                          const float* beta, const float* mean,
                                          const float* variance, double* y, double* magnitude,
                                          float eps, long long count, long long channels,
                                          long long filters, long long h, long long w) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= count) {
    return;
  }
  const long long column = at % w, row = at / w % h;
  const long long filter = at / (w * h) % filters, image = at / (w * h * filters);
  double sum = 0, block = 0, size = 0;
  for (long long p = 0; p < channels; ++p) {
    const __half* plane = x + (image * channels + p) * h * w;
    const __half* taps = weight + (filter * channels + p) * 9;
    for (long long a = 0; a < 3; ++a) {
      for (long long b = 0; b < 3; ++b) {
        const long long r = row + a - 1, c = column + b - 1;
        if (r >= 0 && r < h && c >= 0 && c < w) {
          const double term = (double)(float)taps[a * 3 + b] * (float)plane[r * w + c];
          block += NARROW(product, term);
          size += fabs(term);
        }
      }
    }
    if (p % 4 == 3 || p + 1 == channels) { // a block that a kernel adds up first
      sum += NARROW(partial_sum, block);
      block = 0;
    }
  }
  const double scale = NARROW(scale, gamma[filter] / sqrt((double)variance[filter] + eps));
  y[at] = fmax(0.0, NARROW(scaled, (sum - mean[filter]) * scale) + beta[filter]);
  magnitude[at] = fabs(scale) * size;
}
