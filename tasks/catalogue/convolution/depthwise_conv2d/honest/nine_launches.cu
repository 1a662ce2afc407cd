/*@winnow
{
  "launches": [
    { "fill": "y", "value": 0 },
    { "repeat": 9, "as": "i",
      "do": [ { "kernel": "add_term", "grid": ["ceil_div(images * channels * h * w, 128)"],
                "block": [128],
                "args": ["x", "weight", "y", "images * channels * h * w", "channels", "h", "w",
                         "i"] } ] }
  ]
}
@*/
// One launch for each weight: a shifted and scaled copy of x is added to y.
extern "C" __global__ void add_term(const float* __restrict__ x, const float* __restrict__ weight,
                                    float* y, long long count, int channels, int h, int w, int i) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= count) {
    return;
  }
  const int down = i / 3 - 1, right = i % 3 - 1;
  const int r = (int)(at / w % h) + down, c = (int)(at % w) + right;
  if (r >= 0 && r < h && c >= 0 && c < w) {
    const float factor = weight[at / ((long long)h * w) % channels * 9 + i];
    y[at] += factor * x[at + (long long)down * w + right];
  }
}
