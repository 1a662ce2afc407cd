/*@winnow
{ "launches": [ { "kernel": "log_bessel_reference", "grid": ["ceil_div(n, 64)"], "block": [64],
                  "args": ["order", "x", "y", "y_magnitude", "n"] } ] }
@*/
// The series, whose terms are all positive. Sum and term are scaled down before they overflow.
extern "C" __global__ void log_bessel_reference(const float* order, const float* x, double* y,
                                                double* magnitude, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  const double v = fabs((double)order[i]), z = fabs((double)x[i]), square = z * z / 4;
  double term = 1, sum = 1, scale = 0;
  for (double k = 1; term > 1e-18 * sum || k * (v + k) < square; ++k) {
    term *= NARROW(ratio, square / (k * (v + k)));
    sum += term;
    if (sum > 1e250) {
      sum *= 1e-250;
      term *= 1e-250;
      scale += 250 * log(10.0);
    }
  }
  const double power = NARROW(power, v * log(z / 2)), gamma = NARROW(log_gamma, lgamma(v + 1));
  const double series = NARROW(series, log(sum) + scale);
  y[i] = power - gamma + series;
  magnitude[i] = fabs(power) + fabs(gamma) + series + 1; // 1: the argument of Gamma is rounded
}
