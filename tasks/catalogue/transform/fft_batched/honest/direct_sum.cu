/*@winnow
{
  "scratch": { "root": { "dtype": "f32", "count": "2 * n" } },
  "launches": [
    { "kernel": "roots", "grid": ["ceil_div(n, 64)"], "block": [64],
      "args": ["root", "n", "inverse"] },
    { "kernel": "transform", "grid": ["batch", "ceil_div(n, 64)"], "block": [64],
      "args": ["x", "root", "y", "n"] }
  ]
}
@*/
// The sum itself: one thread an output, with a table of the roots of unity.
extern "C" __global__ void roots(float* __restrict__ root_parts, int n, int inverse) {
  float2* root = reinterpret_cast<float2*>(root_parts);
  const int t = blockIdx.x * 64 + threadIdx.x;
  if (t < n) {
    float s, c;
    sincospif(2.0f * t / n, &s, &c);
    root[t] = make_float2(c, inverse ? s : -s);
  }
}

extern "C" __global__ void transform(const float* __restrict__ x_parts,
                                     const float* __restrict__ root_parts,
                                     float* __restrict__ y_parts, int n) {
  const float2* x = reinterpret_cast<const float2*>(x_parts);
  const float2* root = reinterpret_cast<const float2*>(root_parts);
  float2* y = reinterpret_cast<float2*>(y_parts);
  const size_t row = (size_t)blockIdx.x * n;
  const int f = blockIdx.y * 64 + threadIdx.x;
  if (f >= n) {
    return;
  }
  float real = 0.0f, imaginary = 0.0f;
  int turn = 0;
  for (int t = 0; t < n; ++t) {
    const float2 a = x[row + t], b = root[turn];
    real = fmaf(a.x, b.x, fmaf(-a.y, b.y, real));
    imaginary = fmaf(a.x, b.y, fmaf(a.y, b.x, imaginary));
    turn += f;
    turn -= turn >= n ? n : 0;
  }
  y[row + f] = make_float2(real, imaginary);
}
