/*@winnow
{ "launches": [ { "kernel": "stencil_reference", "grid": ["ceil_div(w, 128)", "h"], "block": [128],
                  "args": ["in", "out", "out_magnitude", "center", "side", "h", "w"] } ] }
@*/
extern "C" __global__ void stencil_reference(const float* in, double* out, double* magnitude,
                                             float center, float side, long long h, long long w) {
  const long long i = blockIdx.y;
  const long long j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (j >= w) {
    return;
  }
  const double north = i > 0 ? in[(i - 1) * w + j] : 0;
  const double south = i + 1 < h ? in[(i + 1) * w + j] : 0;
  const double west = j > 0 ? in[i * w + j - 1] : 0;
  const double east = j + 1 < w ? in[i * w + j + 1] : 0;
  const double middle = in[i * w + j];
  const double neighbours = NARROW(neighbours, north + south + west + east);
  out[i * w + j] = NARROW(product, center * middle) + NARROW(product, side * neighbours);
  magnitude[i * w + j] = fabs(center * middle) +
                         fabs((double)side) * (fabs(north) + fabs(south) + fabs(west) + fabs(east));
}
