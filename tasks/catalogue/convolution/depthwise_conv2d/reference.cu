/*@winnow
{ "launches": [ { "kernel": "depthwise_reference",
                  "grid": ["ceil_div(images * channels * h * w, 64)"], "block": [64],
                  "args": ["x", "weight", "y", "y_magnitude", "images * channels * h * w",
                           "channels", "h", "w"] } ] }
@*/
extern "C" __global__ void depthwise_reference(const float* x, const float* weight, double* y,
                                               double* magnitude, long long count,
                                               long long channels, long long h, long long w) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= count) {
    return;
  }
  const long long plane = at / (h * w), row = at / w % h, column = at % w;
  double sum = 0, size = 0;
  for (long long a = 0; a < 3; ++a) {
    double in_row = 0;
    for (long long b = 0; b < 3; ++b) {
      const long long r = row + a - 1, c = column + b - 1;
      if (r >= 0 && r < h && c >= 0 && c < w) {
        const double factor = weight[plane % channels * 9 + 3 * a + b];
        in_row += NARROW(product, factor * x[(plane * h + r) * w + c]);
        size += fabs(factor * x[(plane * h + r) * w + c]);
      }
    }
    sum += NARROW(partial_sum, in_row);
  }
  y[at] = sum;
  magnitude[at] = size;
}
