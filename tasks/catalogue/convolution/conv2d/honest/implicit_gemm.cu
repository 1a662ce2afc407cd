/*@winnow
{ "launches": [ { "kernel": "conv",
                  "grid": ["ceil_div(images * h * w, 16)", "ceil_div(filters, 16)"],
                  "block": [16, 16],
                  "args": ["x", "weight", "y", "images * h * w", "9 * channels", "filters", "h",
                           "w"] } ] }
@*/
// A product of matrices: weights as filters x terms, and a matrix of terms x points that only
// exists as tiles in shared memory.
extern "C" __global__ void conv(const float* __restrict__ x, const float* __restrict__ weight,
                                float* __restrict__ y, int points, int terms, int filters, int h,
                                int w) {
  __shared__ float taps[16][17], values[16][17];
  const int point = blockIdx.x * 16 + threadIdx.x, filter = blockIdx.y * 16 + threadIdx.y;
  const int image = point / (h * w), row = point / w % h, column = point % w;
  float sum = 0.0f;
  for (int first = 0; first < terms; first += 16) {
    const int term = first + threadIdx.x;
    taps[threadIdx.y][threadIdx.x] =
        filter < filters && term < terms ? weight[(size_t)filter * terms + term] : 0.0f;
    const int other = first + threadIdx.y, channel = other / 9;
    const int r = row + other % 9 / 3 - 1, c = column + other % 3 - 1;
    const bool inside = point < points && other < terms && r >= 0 && r < h && c >= 0 && c < w;
    values[threadIdx.y][threadIdx.x] =
        inside ? x[((size_t)(image * (terms / 9) + channel) * h + r) * w + c] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i) {
      sum = fmaf(taps[threadIdx.y][i], values[i][threadIdx.x], sum);
    }
    __syncthreads();
  }
  if (point < points && filter < filters) {
    y[((size_t)(image * filters + filter) * h + row) * w + column] = sum;
  }
}
