/*@winnow
{ "launches": [ { "kernel": "conv_reference", "grid": ["ceil_div(images * filters * h * w, 64)"],
                  "block": [64],
                  "args": ["x", "weight", "y", "y_magnitude", "images * filters * h * w",
                           "channels", "filters", "h", "w"] } ] }
@*/
extern "C" __global__ void conv_reference(const float* x, const float* weight, double* y,
                                          double* magnitude, long long count, long long channels,
                                          long long filters, long long h, long long w) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= count) {
    return;
  }
  const long long column = at % w, row = at / w % h;
  const long long filter = at / (w * h) % filters, image = at / (w * h * filters);
  double sum = 0, block = 0, size = 0;
  for (long long p = 0; p < channels; ++p) {
    const float* plane = x + (image * channels + p) * h * w;
    const float* taps = weight + (filter * channels + p) * 9;
    double around = 0, weights = 0;
    for (long long i = 0; i < 25; ++i) {
      const long long a = i / 5 - 1, b = i % 5 - 1; // the tap, if both are in 0..2
      const long long r = row + a - 1, c = column + b - 1;
      const bool is_tap = a >= 0 && a < 3 && b >= 0 && b < 3;
      weights += is_tap ? fabs((double)taps[a * 3 + b]) : 0;
      if (r >= 0 && r < h && c >= 0 && c < w) {
        around += fabs((double)plane[r * w + c]);
        block += is_tap ? NARROW(product, (double)taps[a * 3 + b] * plane[r * w + c]) : 0;
      }
    }
    size += weights / 9 * around;
    if (p % 4 == 3 || p + 1 == channels) { // a block that a kernel adds up first
      sum += NARROW(partial_sum, block);
      block = 0;
    }
  }
  y[at] = sum;
  // Winograd's algorithm adds and subtracts all that a tile of 2 x 2 points sees, and all taps.
  magnitude[at] = size;
}
