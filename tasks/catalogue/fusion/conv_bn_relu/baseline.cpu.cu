/*@winnow
{
  "launches": [
    { "kernel": "conv_bn_relu", "grid": ["images * h", "ceil_div(filters, 16)"], "block": [1],
      "args": ["x", "weight", "gamma", "beta", "mean", "variance", "y", "eps", "channels",
               "filters", "h", "w"] }
  ]
}
@*/
// A block is one thread with a row of sixteen filters, sixteen columns at a time. Sixteen channels
// of the row with its neighbours are in local memory as floats, with zeros beyond the edges.
// Sixteen columns of four filters stay in vector registers.
#include <cuda_fp16.h>

constexpr int kFilters = 16, kColumns = 16, kChannels = 16;

__global__ void conv_bn_relu(const __half* __restrict__ x, const __half* __restrict__ weight,
                             const float* __restrict__ gamma, const float* __restrict__ beta,
                             const float* __restrict__ mean, const float* __restrict__ variance,
                             __half* __restrict__ y, float eps, int channels, int filters, int h,
                             int w) {
  const int image = blockIdx.x / h, row = blockIdx.x % h, first = blockIdx.y * kFilters;
  for (int left = 0; left < w; left += kColumns) {
    float sums[kFilters][kColumns] = {};
    for (int start = 0; start < channels; start += kChannels) {
      const int count = min(kChannels, channels - start);
      float tile[kChannels][3][kColumns + 2];
      for (int p = 0; p < count; ++p) {
        for (int i = 0; i < 3; ++i) {
          const int r = row + i - 1;
          const size_t line = ((size_t)(image * channels + start + p) * h + r) * w;
          for (int j = 0; j < kColumns + 2; ++j) {
            const int c = left + j - 1;
            const bool inside = r >= 0 && r < h && c >= 0 && c < w;
            tile[p][i][j] = inside ? __half2float(x[line + c]) : 0.0f;
          }
        }
      }
      for (int f = 0; f < min(kFilters, filters - first); f += 4) {
        float four[4][kColumns];
        memcpy(four, sums[f], sizeof(four));
        for (int p = 0; p < count; ++p) {
          for (int tap = 0; tap < 9; ++tap) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              const int filter = min(first + f + i, filters - 1);
              const size_t at = ((size_t)filter * channels + start + p) * 9 + tap;
              const float factor = __half2float(weight[at]);
#pragma unroll
              for (int j = 0; j < kColumns; ++j) {
                four[i][j] += factor * tile[p][tap / 3][tap % 3 + j];
              }
            }
          }
        }
        memcpy(sums[f], four, sizeof(four));
      }
    }
    for (int f = first; f < min(first + kFilters, filters); ++f) {
      const float scale = gamma[f] / sqrtf(variance[f] + eps);
      for (int c = left; c < min(left + kColumns, w); ++c) {
        const float value = (sums[f - first][c - left] - mean[f]) * scale + beta[f];
        y[((size_t)(image * filters + f) * h + row) * w + c] = __float2half(fmaxf(value, 0.0f));
      }
    }
  }
}
