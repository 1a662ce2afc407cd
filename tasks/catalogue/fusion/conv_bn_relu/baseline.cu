/*@winnow
{
  "params": { "F": [16, 8, 32], "BY": [8, 16, 4] },
  "let": { "across": "ceil_div(w, 16)", "tiles": "across * ceil_div(h, BY)" },
  "launches": [
    { "kernel": "conv_bn_relu<{F}, {BY}>", "grid": ["images * tiles", "ceil_div(filters, F)"],
      "block": [16, "BY"],
      "args": ["x", "weight", "gamma", "beta", "mean", "variance", "y", "eps", "channels",
               "filters", "h", "w", "across", "tiles"] }
  ]
}
@*/
// A thread has a point of F filters in registers, and normalises there. Four channels of a tile
// with its halo and of the weights are in shared memory, as floats.
#include <cuda_fp16.h>

template <int F, int BY>
__global__ void conv_bn_relu(const __half* __restrict__ x, const __half* __restrict__ weight,
                             const float* __restrict__ gamma, const float* __restrict__ beta,
                             const float* __restrict__ mean, const float* __restrict__ variance,
                             __half* __restrict__ y, float eps, int channels, int filters, int h,
                             int w, int across, int tiles) {
  __shared__ float tile[4][BY + 2][18];
  __shared__ float taps[4][9][F];
  const int image = blockIdx.x / tiles, index = blockIdx.x % tiles;
  const int top = index / across * BY, left = index % across * 16, first = blockIdx.y * F;
  const int thread = threadIdx.y * 16 + threadIdx.x;
  float sums[F] = {};
  for (int p = 0; p < channels; p += 4) {
    __syncthreads();
    for (int t = thread; t < 4 * (BY + 2) * 18; t += 16 * BY) {
      const int channel = p + t / ((BY + 2) * 18), within = t % ((BY + 2) * 18);
      const int r = top + within / 18 - 1, c = left + within % 18 - 1;
      const bool inside = channel < channels && r >= 0 && r < h && c >= 0 && c < w;
      tile[channel - p][within / 18][within % 18] =
          inside ? __half2float(x[((size_t)(image * channels + channel) * h + r) * w + c]) : 0.0f;
    }
    for (int t = thread; t < 4 * 9 * F; t += 16 * BY) {
      const int filter = t / 36, channel = p + t % 36 / 9;
      const bool inside = first + filter < filters && channel < channels;
      const size_t at = ((size_t)(first + filter) * channels + channel) * 9 + t % 9;
      taps[channel - p][t % 9][filter] = inside ? __half2float(weight[at]) : 0.0f;
    }
    __syncthreads();
    for (int q = 0; q < 4; ++q) {
#pragma unroll
      for (int i = 0; i < 9; ++i) {
        const float value = tile[q][threadIdx.y + i / 3][threadIdx.x + i % 3];
#pragma unroll
        for (int f = 0; f < F; ++f) {
          sums[f] += taps[q][i][f] * value;
        }
      }
    }
  }
  const int row = top + threadIdx.y, column = left + threadIdx.x;
  if (row >= h || column >= w) {
    return;
  }
#pragma unroll
  for (int f = 0; f < F; ++f) {
    const int filter = first + f;
    if (filter < filters) {
      const float scale = gamma[filter] * rsqrtf(variance[filter] + eps);
      const float value = (sums[f] - mean[filter]) * scale + beta[filter];
      y[((size_t)(image * filters + filter) * h + row) * w + column] =
          __float2half(fmaxf(value, 0.0f));
    }
  }
}
