/*@winnow
{
  "let": { "across": "ceil_div(w, 64)" },
  "launches": [
    { "kernel": "depthwise", "grid": ["across * images * channels"], "block": [64],
      "args": ["x", "weight", "y", "channels", "h", "w", "across"] }
  ]
}
@*/
// A thread walks down a column; each row adds to the sums of three rows of y.
extern "C" __global__ void depthwise(const float* __restrict__ x, const float* __restrict__ weight,
                                     float* __restrict__ y, int channels, int h, int w,
                                     int across) {
  const int plane = blockIdx.x / across, c = blockIdx.x % across * 64 + threadIdx.x;
  if (c >= w) {
    return;
  }
  const float* f = weight + plane % channels * 9;
  const size_t start = (size_t)plane * h * w + c;
  float above = 0.0f, here = 0.0f;
  for (int r = 0; r < h; ++r) {
    const size_t at = start + (size_t)r * w;
    const float left = c > 0 ? x[at - 1] : 0.0f, right = c + 1 < w ? x[at + 1] : 0.0f;
    const float done = above + (f[6] * left + f[7] * x[at] + f[8] * right);
    above = here + (f[3] * left + f[4] * x[at] + f[5] * right);
    here = f[0] * left + f[1] * x[at] + f[2] * right;
    if (r > 0) {
      y[at - w] = done;
    }
  }
  y[start + (size_t)(h - 1) * w] = above;
}
