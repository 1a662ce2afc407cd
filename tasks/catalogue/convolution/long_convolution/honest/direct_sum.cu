/*@winnow
{
  "launches": [
    { "kernel": "convolve", "grid": ["ceil_div(n, 64)", "channels", "batch"], "block": [64],
      "args": ["u", "h", "skip", "y", "n"] }
  ]
}
@*/
// The sum itself: one thread an output, one fused multiply-add after the other.
extern "C" __global__ void convolve(const float* __restrict__ u, const float* __restrict__ h,
                                    const float* __restrict__ skip, float* __restrict__ y, int n) {
  const int t = blockIdx.x * 64 + threadIdx.x, channel = blockIdx.y;
  if (t >= n) {
    return;
  }
  const size_t row = ((size_t)blockIdx.z * gridDim.y + channel) * n;
  const float *taps = h + (size_t)channel * n, *now = u + row + t;
  float sum = skip[channel] * now[0];
  for (int j = 0; j <= t; ++j) {
    sum = fmaf(taps[j], now[-j], sum);
  }
  y[row + t] = sum;
}
