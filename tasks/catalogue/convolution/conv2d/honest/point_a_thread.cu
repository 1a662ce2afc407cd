/*@winnow
{ "launches": [ { "kernel": "conv", "grid": ["ceil_div(images * filters * h * w, 64)"],
                  "block": [64],
                  "args": ["x", "weight", "y", "images * filters * h * w", "channels", "filters",
                           "h", "w"] } ] }
@*/
// One point a thread, from caches only: one chain of all additions.
extern "C" __global__ void conv(const float* __restrict__ x, const float* __restrict__ weight,
                                float* __restrict__ y, int count, int channels, int filters, int h,
                                int w) {
  const int at = blockIdx.x * 64 + threadIdx.x;
  if (at >= count) {
    return;
  }
  const int column = at % w, row = at / w % h;
  const int filter = at / (w * h) % filters, image = at / (w * h * filters);
  float sum = 0.0f;
  for (int p = 0; p < channels; ++p) {
    const float* plane = x + (size_t)(image * channels + p) * h * w;
    const float* taps = weight + (size_t)(filter * channels + p) * 9;
    for (int r = max(row - 1, 0); r <= min(row + 1, h - 1); ++r) {
      for (int c = max(column - 1, 0); c <= min(column + 1, w - 1); ++c) {
        sum = fmaf(taps[(r - row + 1) * 3 + c - column + 1], plane[r * w + c], sum);
      }
    }
  }
  y[at] = sum;
}
