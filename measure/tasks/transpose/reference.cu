/*@winnow
{ "launches": [ { "kernel": "transpose_reference", "grid": ["ceil_div(w, 32)", "h"], "block": [32],
                  "args": ["in", "out", "out_magnitude", "h", "w"] } ] }
@*/
extern "C" __global__ void transpose_reference(const float* in, double* out, double* magnitude,
                                               long long h, long long w) {
  const long long i = blockIdx.y;
  const long long j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (j < w) {
    out[j * h + i] = in[i * w + j];
    magnitude[j * h + i] = fabs(in[i * w + j]);
  }
}
