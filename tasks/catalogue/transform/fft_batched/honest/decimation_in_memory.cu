/*@winnow
{
  "let": { "twos": "log2(n)" },
  "scratch": { "even": { "dtype": "f32", "count": "2 * batch * n" },
               "odd": { "dtype": "f32", "count": "2 * batch * n" } },
  "launches": [
    { "copy": "x", "to": "even" },
    { "repeat": "twos", "as": "t", "let": { "half": "n >> (t + 1)", "done": "1 << t" },
      "do": [
        { "when": "(half << (t + 1)) == n", "kernel": "halve",
          "grid": ["ceil_div(batch * n, 128)"], "block": [64],
          "args": [{ "pick": ["even", "odd"], "by": "t % 2" },
                   { "pick": ["odd", "even"], "by": "t % 2" }, "batch * n / 2", "n", "done",
                   "inverse"] } ] },
    { "kernel": "finish", "grid": ["ceil_div(n, 32)", "min(batch, 65535)"], "block": [32],
      "args": ["even", "odd", "y", "batch", "n", "inverse"] }
  ]
}
@*/
// A launch for each factor 2 of the length, from one buffer in memory to the other; the last launch
// sums over what is left of the length.
__device__ float2 root_of(long long turn, int n, int inverse) {
  const float angle = 6.28318530717958647692f * (float)((double)(turn % n) / n);
  return make_float2(cosf(angle), inverse ? sinf(angle) : -sinf(angle));
}

extern "C" __global__ void halve(const float* __restrict__ from_parts, float* __restrict__ to_parts,
                                 long long pairs, int n, int done, int inverse) {
  const float2* from = reinterpret_cast<const float2*>(from_parts);
  float2* to = reinterpret_cast<float2*>(to_parts);
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= pairs) {
    return;
  }
  const long long row = i / (n / 2) * n;
  const int at = i % (n / 2), inner = at % done;
  const float2 a = from[row + at], b = from[row + at + n / 2];
  const float2 w = root_of(inner, 2 * done, inverse);
  const float2 turned = make_float2(b.x * w.x - b.y * w.y, b.x * w.y + b.y * w.x);
  float2* out = to + row + at / done * 2 * done + inner;
  out[0] = make_float2(a.x + turned.x, a.y + turned.y);
  out[done] = make_float2(a.x - turned.x, a.y - turned.y);
}

extern "C" __global__ void finish(const float* __restrict__ even_parts,
                                  const float* __restrict__ odd_parts, float* __restrict__ y_parts,
                                  int batch, int n, int inverse) {
  const float2* even = reinterpret_cast<const float2*>(even_parts);
  const float2* odd = reinterpret_cast<const float2*>(odd_parts);
  float2* y = reinterpret_cast<float2*>(y_parts);
  int done = 1, passes = 0;
  for (; n % (2 * done) == 0; done *= 2) {
    ++passes;
  }
  const float2* from = passes % 2 == 0 ? even : odd;
  const int f = blockIdx.x * 32 + threadIdx.x, parts = n / done;
  if (f >= n) {
    return;
  }
  for (long long z = blockIdx.y; z < batch; z += gridDim.y) {
    float2 sum = make_float2(0.0f, 0.0f);
    for (int p = 0; p < parts; ++p) {
      const float2 a = from[z * n + (long long)p * done + f % done];
      const float2 w = root_of((long long)p * f, n, inverse);
      sum.x += a.x * w.x - a.y * w.y;
      sum.y += a.x * w.y + a.y * w.x;
    }
    y[z * n + f] = sum;
  }
}
