/*@winnow
{ "launches": [ { "kernel": "gelu_reference", "grid": ["ceil_div(n, 64)"], "block": [64],
                  "args": ["x", "y", "y_magnitude", "n"] } ] }
@*/
extern "C" __global__ void gelu_reference(const float* x, double* y, double* magnitude,
                                          long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) {
    // erf(x / sqrt(2)); 1 + erf(a) is erfc(-a), which does not cancel.
    const double argument = NARROW(argument, -0.70710678118654752440 * x[i]);
    y[i] = 0.5 * x[i] * NARROW(error_function, erfc(argument));
    magnitude[i] = fabs((double)x[i]);
  }
}
