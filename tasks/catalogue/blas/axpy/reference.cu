/*@winnow
{
  "launches": [
    { "kernel": "axpy_reference", "grid": ["ceil_div(n, 128)"], "block": [128],
      "args": ["x", "y", "z", "z_magnitude", "alpha", "n"] }
  ]
}
@*/
extern "C" __global__ void axpy_reference(const float* x, const float* y, double* z,
                                          double* magnitude, float alpha, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) {
    const double product = NARROW(product, (double)alpha * x[i]);
    z[i] = product + y[i];
    magnitude[i] = fabs(product) + fabs((double)y[i]);
  }
}
