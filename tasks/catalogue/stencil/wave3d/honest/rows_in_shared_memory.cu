/*@winnow
{ "launches": [ { "kernel": "wave", "grid": ["ceil_div(nx, 64)", "ny", "nz"], "block": [64],
                  "args": ["now", "before", "courant", "next", "nz", "ny", "nx"] } ] }
@*/
// Neighbours along x from shared memory, along y and z from caches; one sum for each axis.
__constant__ float weights[5] = {-205.0f / 72, 8.0f / 5, -1.0f / 5, 8.0f / 315, -1.0f / 560};

extern "C" __global__ void wave(const float* __restrict__ now, const float* __restrict__ before,
                                const float* __restrict__ courant, float* __restrict__ next, int nz,
                                int ny, int nx) {
  __shared__ float row[64 + 8];
  const int left = blockIdx.x * 64, i = left + threadIdx.x, j = blockIdx.y, k = blockIdx.z;
  const long long plane = (long long)ny * nx, start = k * plane + (long long)j * nx;
  for (int t = threadIdx.x; t < 72; t += 64) {
    const int x = left + t - 4;
    row[t] = x >= 0 && x < nx ? now[start + x] : 0.0f;
  }
  __syncthreads();
  if (i >= nx) {
    return;
  }
  const float centre = row[threadIdx.x + 4];
  float along_x = weights[0] * centre, along_y = along_x, along_z = along_x;
  for (int d = 1; d <= 4; ++d) {
    along_x += weights[d] * (row[threadIdx.x + 4 - d] + row[threadIdx.x + 4 + d]);
    along_y += weights[d] * ((j >= d ? now[start + i - (long long)d * nx] : 0.0f) +
                             (j + d < ny ? now[start + i + (long long)d * nx] : 0.0f));
    along_z += weights[d] * ((k >= d ? now[start + i - d * plane] : 0.0f) +
                             (k + d < nz ? now[start + i + d * plane] : 0.0f));
  }
  const long long at = start + i;
  next[at] = 2.0f * centre - before[at] + courant[at] * (along_x + along_y + along_z);
}
