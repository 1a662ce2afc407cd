/*@winnow
{ "launches": [ { "kernel": "conv",
                  "grid": ["ceil_div(images * h * w, 16)", "ceil_div(filters, 16)"],
                  "block": [16, 16],
                  "args": ["x", "weight", "gamma", "beta", "mean", "variance", "y", "eps",
                           "images * h * w", "9 * channels", "filters", "h", "w"] } ] }
@*/
// A product of matrices: weights as filters x terms, and a matrix of terms x points that only
// exists as tiles in shared memory. Mean and shift are one number.
#include <cuda_fp16.h>

extern "C" __global__ void conv(const __half* __restrict__ x, const __half* __restrict__ weight,
                                const float* __restrict__ gamma, const float* __restrict__ beta,
                                const float* __restrict__ mean, const float* __restrict__ variance,
                                __half* __restrict__ y, float eps, int points, int terms,
                                int filters, int h, int w) {
  __shared__ __half taps[16][18], values[16][18];
  const int point = blockIdx.x * 16 + threadIdx.x, filter = blockIdx.y * 16 + threadIdx.y;
  const int image = point / (h * w), row = point / w % h, column = point % w;
  const __half zero = __float2half(0.0f);
  float sum = 0.0f;
  for (int first = 0; first < terms; first += 16) {
    const int term = first + threadIdx.x;
    taps[threadIdx.y][threadIdx.x] =
        filter < filters && term < terms ? weight[(size_t)filter * terms + term] : zero;
    const int other = first + threadIdx.y, channel = other / 9;
    const int r = row + other % 9 / 3 - 1, c = column + other % 3 - 1;
    const bool inside = point < points && other < terms && r >= 0 && r < h && c >= 0 && c < w;
    values[threadIdx.y][threadIdx.x] =
        inside ? x[((size_t)(image * (terms / 9) + channel) * h + r) * w + c] : zero;
    __syncthreads();
    for (int i = 0; i < 16; ++i) {
      sum += __half2float(taps[threadIdx.y][i]) * __half2float(values[i][threadIdx.x]);
    }
    __syncthreads();
  }
  if (point < points && filter < filters) {
    const float scale = gamma[filter] / sqrtf(variance[filter] + eps);
    const float shift = fmaf(-mean[filter], scale, beta[filter]);
    y[((size_t)(image * filters + filter) * h + row) * w + column] =
        __float2half(fmaxf(0.0f, fmaf(sum, scale, shift)));
  }
}
