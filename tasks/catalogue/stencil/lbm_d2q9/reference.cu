/*@winnow
{ "launches": [ { "kernel": "reference", "grid": ["ceil_div(h * w, 128)"], "block": [128],
                  "args": ["f", "next", "next_magnitude", "omega", "h", "w"] } ] }
@*/
extern "C" __global__ void reference(const float* f, double* next, double* magnitude, float omega,
                                     long long h, long long w) {
  const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
  const int cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  const double weight[9] = {4.0 / 9,  1.0 / 9,  1.0 / 9,  1.0 / 9, 1.0 / 9,
                            1.0 / 36, 1.0 / 36, 1.0 / 36, 1.0 / 36};
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= h * w) {
    return;
  }
  double g[9], rho = 0, ux = 0, uy = 0;
  for (int q = 0; q < 9; ++q) {
    const long long y = (at / w - cy[q] + h) % h, x = (at % w - cx[q] + w) % w;
    g[q] = f[(q * h + y) * w + x];
    rho += g[q];
    ux += cx[q] * g[q];
    uy += cy[q] * g[q];
  }
  rho = NARROW(density, rho);
  ux = NARROW(velocity, ux / rho);
  uy = NARROW(velocity, uy / rho);
  for (int q = 0; q < 9; ++q) {
    const double along = NARROW(along, cx[q] * ux + cy[q] * uy), square = ux * ux + uy * uy;
    const double equal =
        NARROW(equilibrium, weight[q] * rho * (1 + 3 * along + 4.5 * along * along - 1.5 * square));
    const double size = cx[q] * cx[q] * fabs(ux) + cy[q] * cy[q] * fabs(uy);
    next[q * h * w + at] = g[q] + omega * (equal - g[q]);
    magnitude[q * h * w + at] =
        g[q] + omega * g[q] +
        omega * weight[q] * rho * (1 + 3 * size + 4.5 * size * size + 1.5 * square);
  }
}
