/*@winnow
{
  "let": { "across": "ceil_div(w, 2)", "tiles": "across * ceil_div(h, 2)" },
  "scratch": { "transformed": { "dtype": "f32", "count": "16 * filters * channels" } },
  "launches": [
    { "kernel": "transform", "grid": ["ceil_div(filters * channels, 64)"], "block": [64],
      "args": ["weight", "transformed", "filters * channels"] },
    { "kernel": "conv", "grid": ["ceil_div(images * filters * tiles, 64)"], "block": [64],
      "args": ["x", "transformed", "y", "images * filters * tiles", "channels", "filters", "h",
               "w", "across", "tiles"] }
  ]
}
@*/
// Winograd's F(2 x 2, 3 x 3): a thread has a tile of 2 x 2 points, and 16 products a channel for
// them instead of 36 (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016).
extern "C" __global__ void transform(const float* __restrict__ weight,
                                     float* __restrict__ transformed, int count) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= count) {
    return;
  }
  const float* g = weight + (size_t)i * 9;
  float rows[4][3];
  for (int b = 0; b < 3; ++b) {
    rows[0][b] = g[b];
    rows[1][b] = 0.5f * (g[b] + g[3 + b] + g[6 + b]);
    rows[2][b] = 0.5f * (g[b] - g[3 + b] + g[6 + b]);
    rows[3][b] = g[6 + b];
  }
  float* out = transformed + (size_t)i * 16;
  for (int a = 0; a < 4; ++a) {
    out[4 * a] = rows[a][0];
    out[4 * a + 1] = 0.5f * (rows[a][0] + rows[a][1] + rows[a][2]);
    out[4 * a + 2] = 0.5f * (rows[a][0] - rows[a][1] + rows[a][2]);
    out[4 * a + 3] = rows[a][2];
  }
}

extern "C" __global__ void conv(const float* __restrict__ x, const float* __restrict__ transformed,
                                float* __restrict__ y, int count, int channels, int filters, int h,
                                int w, int across, int tiles) {
  const int at = blockIdx.x * 64 + threadIdx.x;
  if (at >= count) {
    return;
  }
  const int tile = at % tiles, filter = at / tiles % filters, image = at / tiles / filters;
  const int top = tile / across * 2, left = tile % across * 2;
  float sums[16] = {};
  for (int p = 0; p < channels; ++p) {
    const float* plane = x + (size_t)(image * channels + p) * h * w;
    float d[4][4], rows[4][4];
#pragma unroll
    for (int a = 0; a < 16; ++a) {
      const int r = top + a / 4 - 1, c = left + a % 4 - 1;
      d[a / 4][a % 4] = r >= 0 && r < h && c >= 0 && c < w ? plane[r * w + c] : 0.0f;
    }
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      rows[0][b] = d[0][b] - d[2][b];
      rows[1][b] = d[1][b] + d[2][b];
      rows[2][b] = d[2][b] - d[1][b];
      rows[3][b] = d[1][b] - d[3][b];
    }
    const float* u = transformed + (size_t)(filter * channels + p) * 16;
#pragma unroll
    for (int a = 0; a < 4; ++a) {
      sums[4 * a] += u[4 * a] * (rows[a][0] - rows[a][2]);
      sums[4 * a + 1] += u[4 * a + 1] * (rows[a][1] + rows[a][2]);
      sums[4 * a + 2] += u[4 * a + 2] * (rows[a][2] - rows[a][1]);
      sums[4 * a + 3] += u[4 * a + 3] * (rows[a][1] - rows[a][3]);
    }
  }
  float halves[2][4];
#pragma unroll
  for (int b = 0; b < 4; ++b) {
    halves[0][b] = sums[b] + sums[4 + b] + sums[8 + b];
    halves[1][b] = sums[4 + b] - sums[8 + b] - sums[12 + b];
  }
  float* plane = y + (size_t)(image * filters + filter) * h * w;
#pragma unroll
  for (int a = 0; a < 2; ++a) {
    if (top + a < h) {
      plane[(top + a) * w + left] = halves[a][0] + halves[a][1] + halves[a][2];
      if (left + 1 < w) {
        plane[(top + a) * w + left + 1] = halves[a][1] - halves[a][2] - halves[a][3];
      }
    }
  }
}
