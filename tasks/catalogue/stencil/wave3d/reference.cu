/*@winnow
{ "launches": [ { "kernel": "wave_reference", "grid": ["ceil_div(nx, 128)", "ny", "nz"],
                  "block": [128],
                  "args": ["now", "before", "courant", "next", "next_magnitude", "nz", "ny",
                           "nx"] } ] }
@*/
extern "C" __global__ void wave_reference(const float* now, const float* before,
                                          const float* courant, double* next, double* magnitude,
                                          long long nz, long long ny, long long nx) {
  const double weights[] = {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};
  const long long k = blockIdx.z, j = blockIdx.y;
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= nx) {
    return;
  }
  const long long at = (k * ny + j) * nx + i;
  double sum = 3 * weights[0] * now[at], size = fabs(sum);
  for (int d = -4; d <= 4; ++d) {
    const double weight = weights[d < 0 ? -d : d];
    const double x = d != 0 && i + d >= 0 && i + d < nx ? now[at + d] : 0;
    const double y = d != 0 && j + d >= 0 && j + d < ny ? now[at + d * nx] : 0;
    const double z = d != 0 && k + d >= 0 && k + d < nz ? now[at + d * ny * nx] : 0;
    sum += NARROW(term, weight * NARROW(ring_sum, x + y + z));
    size += fabs(weight) * (fabs(x) + fabs(y) + fabs(z));
  }
  next[at] = 2.0 * now[at] - before[at] + courant[at] * NARROW(laplacian, sum);
  magnitude[at] = fabs(2.0 * now[at]) + fabs((double)before[at]) + courant[at] * size;
}
