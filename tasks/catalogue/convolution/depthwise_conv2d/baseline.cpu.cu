/*@winnow
{
  "launches": [
    { "kernel": "depthwise", "grid": ["ceil_div(h, 8)", "images * channels"], "block": [1],
      "args": ["x", "weight", "y", "channels", "h", "w"] }
  ]
}
@*/
// A block is one thread with eight rows of a plane, 64 columns at a time. Each tap adds a part of a
// row of x that lies inside the plane, so that these loops fill whole vector registers.
extern "C" __global__ void depthwise(const float* __restrict__ x, const float* __restrict__ weight,
                                     float* __restrict__ y, int channels, int h, int w) {
  constexpr int kColumns = 64;
  const int first = blockIdx.x * 8;
  const float* image = x + (size_t)blockIdx.y * h * w;
  for (int row = first; row < min(first + 8, h); ++row) {
    for (int left = 0; left < w; left += kColumns) {
      const int columns = min(kColumns, w - left);
      float sums[kColumns] = {};
      for (int tap = 0; tap < 9; ++tap) {
        const int r = row + tap / 3 - 1, shift = left + tap % 3 - 1;
        if (r < 0 || r >= h) {
          continue;
        }
        const float factor = weight[blockIdx.y % channels * 9 + tap];
        const float* from = image + (size_t)r * w + shift;
        for (int c = max(0, -shift); c < min(columns, w - shift); ++c) {
          sums[c] += factor * from[c];
        }
      }
      for (int c = 0; c < columns; ++c) {
        y[((size_t)blockIdx.y * h + row) * w + left + c] = sums[c];
      }
    }
  }
}
