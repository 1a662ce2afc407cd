/*@winnow
{
  "launches": [
    { "kernel": "row_sum_reference", "grid": ["ceil_div(h, 128)"], "block": [128],
      "args": ["in", "out", "out_magnitude", "h", "w"] }
  ]
}
@*/
extern "C" __global__ void row_sum_reference(const float* in, double* out, double* magnitude,
                                             long long h, long long w) {
  const long long r = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (r >= h) {
    return;
  }
  double sum = 0, size = 0;
  for (long long c = 0; c < w; ++c) {
    sum += in[r * w + c];
    size += fabs((double)in[r * w + c]);
  }
  out[r] = sum;
  magnitude[r] = size;
}
