/*@winnow
{ "launches": [ { "kernel": "depthwise", "grid": ["ceil_div(images * channels * h * w, 128)"],
                  "block": [128],
                  "args": ["x", "weight", "y", "images * channels * h * w", "channels", "h",
                           "w"] } ] }
@*/
// One element a thread, from caches only, from the last weight to the first.
extern "C" __global__ void depthwise(const float* __restrict__ x, const float* __restrict__ weight,
                                     float* __restrict__ y, long long count, int channels, int h,
                                     int w) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= count) {
    return;
  }
  const int row = at / w % h, column = at % w;
  const float* factors = weight + at / ((long long)h * w) % channels * 9;
  float sum = 0.0f;
  for (int i = 8; i >= 0; --i) {
    const int r = row + i / 3 - 1, c = column + i % 3 - 1;
    if (r >= 0 && r < h && c >= 0 && c < w) {
      sum = fmaf(factors[i], x[at + (long long)(i / 3 - 1) * w + (i % 3 - 1)], sum);
    }
  }
  y[at] = sum;
}
