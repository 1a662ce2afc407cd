/*@winnow
{ "launches": [ { "kernel": "step", "grid": ["ceil_div(w, 32)", "ceil_div(h, 4)"], "block": [32],
                  "args": ["f", "next", "omega", "h", "w"] } ] }
@*/
// A thread walks down four rows. Opposite populations share the even and the odd part of their
// equilibrium; momentum is not divided by the density before it is needed.
__device__ void relax(float forth, float back, float even, float odd, float omega, float* to_forth,
                      float* to_back) {
  *to_forth = forth - omega * (forth - (even + odd));
  *to_back = back - omega * (back - (even - odd));
}

extern "C" __global__ void step(const float* __restrict__ f, float* __restrict__ next, float omega,
                                int h, int w) {
  const int x = blockIdx.x * 32 + threadIdx.x;
  if (x >= w) {
    return;
  }
  const int left = (x + w - 1) % w, right = (x + 1) % w;
  const size_t plane = (size_t)h * w;
  for (int y = blockIdx.y * 4; y < min(h, (int)blockIdx.y * 4 + 4); ++y) {
    const size_t row = (size_t)y * w, above = (size_t)((y + h - 1) % h) * w;
    const size_t below = (size_t)((y + 1) % h) * w;
    const float rest = f[row + x];
    const float east = f[plane + row + left], west = f[3 * plane + row + right];
    const float north = f[2 * plane + above + x], south = f[4 * plane + below + x];
    const float ne = f[5 * plane + above + left], sw = f[7 * plane + below + right];
    const float nw = f[6 * plane + above + right], se = f[8 * plane + below + left];
    const float rho = ((((((((rest + east) + west) + north) + south) + ne) + sw) + nw) + se);
    const float jx = (east + ne + se) - (west + sw + nw),
                jy = (north + ne + nw) - (south + sw + se);
    const float inverse = 1.0f / rho;
    const float base = rho - 1.5f * inverse * (jx * jx + jy * jy);
    float* to = next + row + x;
    const float squares[4] = {jx * jx, jy * jy, (jx + jy) * (jx + jy), (jy - jx) * (jy - jx)};
    const float odd[4] = {3.0f * jx, 3.0f * jy, 3.0f * (jx + jy), 3.0f * (jy - jx)};
    const float forth[4] = {east, north, ne, nw}, back[4] = {west, south, sw, se};
    const int q[4] = {1, 2, 5, 6};
    to[0] = rest - omega * (rest - base * (4.0f / 9.0f));
    for (int pair = 0; pair < 4; ++pair) {
      const float weight = pair < 2 ? 1.0f / 9.0f : 1.0f / 36.0f;
      const float even = weight * fmaf(4.5f * inverse, squares[pair], base);
      relax(forth[pair], back[pair], even, weight * odd[pair], omega, to + q[pair] * plane,
            to + (q[pair] + 2) * plane);
    }
  }
}
