/*@winnow
{
  "scratch": { "root": { "dtype": "f64", "count": "2 * n" } },
  "launches": [
    { "kernel": "roots", "grid": ["ceil_div(n, 32)"], "block": [32],
      "args": ["root", "n", "inverse"] },
    { "kernel": "reference", "grid": ["ceil_div(n, 32)", "min(batch, 65535)"], "block": [32],
      "args": ["x", "root", "y", "y_magnitude", "batch", "n"] }
  ]
}
@*/
extern "C" __global__ void roots(double* root, long long n, int inverse) {
  const long long t = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (t < n) {
    root[2 * t] = cospi(2.0 * t / n);
    root[2 * t + 1] = (inverse ? 1 : -1) * sinpi(2.0 * t / n);
  }
}

extern "C" __global__ void reference(const float* x, const double* root, double* y,
                                     double* magnitude, long long batch, long long n) {
  const long long f = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (f >= n) {
    return;
  }
  for (long long z = blockIdx.y; z < batch; z += gridDim.y) {
    double real = 0, imaginary = 0, size = 0, block[2] = {};
    long long turn = 0; // f * t modulo n
    for (long long t = 0; t < n; ++t) {
      const double a = x[2 * (z * n + t)], b = x[2 * (z * n + t) + 1];
      const double c = NARROW(root, root[2 * turn]), s = NARROW(root, root[2 * turn + 1]);
      block[0] += NARROW(product, a * c - b * s);
      block[1] += NARROW(product, a * s + b * c);
      size += fabs(a) + fabs(b);
      if (t % 16 == 15 || t + 1 == n) { // a pass that a kernel keeps in memory
        real += NARROW(partial_sum, block[0]);
        imaginary += NARROW(partial_sum, block[1]);
        block[0] = block[1] = 0;
      }
      turn = turn + f < n ? turn + f : turn + f - n;
    }
    y[2 * (z * n + f)] = real;
    y[2 * (z * n + f) + 1] = imaginary;
    magnitude[2 * (z * n + f)] = size;
    magnitude[2 * (z * n + f) + 1] = size;
  }
}
