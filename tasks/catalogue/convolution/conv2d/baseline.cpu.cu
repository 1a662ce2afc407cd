/*@winnow
{
  "launches": [
    { "kernel": "conv", "grid": ["images * h", "ceil_div(filters, 16)"], "block": [1],
      "args": ["x", "weight", "y", "channels", "filters", "h", "w"] }
  ]
}
@*/
// A block is one thread with a row of sixteen filters, sixteen columns at a time. Sixteen channels
// of the row with its neighbours are in local memory, with zeros beyond the edges. Sixteen columns
// of four filters stay in vector registers.
constexpr int kFilters = 16, kColumns = 16, kChannels = 16;

__global__ void conv(const float* __restrict__ x, const float* __restrict__ weight,
                     float* __restrict__ y, int channels, int filters, int h, int w) {
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
            tile[p][i][j] = inside ? x[line + c] : 0.0f;
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
              const float factor = weight[at];
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
      for (int c = left; c < min(left + kColumns, w); ++c) {
        y[((size_t)(image * filters + f) * h + row) * w + c] = sums[f - first][c - left];
      }
    }
  }
}
