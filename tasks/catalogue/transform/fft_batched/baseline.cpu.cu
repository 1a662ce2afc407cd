/*@winnow
{
  "launches": [
    { "kernel": "fft", "grid": ["batch"], "block": [1], "shared_bytes": "24 * n",
      "args": ["x", "y", "n", "inverse"] }
  ]
}
@*/
// Stockham's passes of one transform by one thread: radix 4 as long as 4 divides, then the prime
// factors. A pass reads one buffer and writes the other; a prime factor costs a sum of its length.
// A table has exp(sign * 2 pi i * t / n) for every t.
__device__ float2 times(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

__device__ int next_factor(int rest) {
  if (rest % 4 == 0) {
    return 4;
  }
  for (int factor = 2; factor * factor <= rest; ++factor) {
    if (rest % factor == 0) {
      return factor;
    }
  }
  return rest;
}

// Transforms of length `done` become transforms of length 4 * done.
__device__ void pass_4(const float2* from, float2* to, const float2* roots, int n, int done,
                       float sign) {
  const int stride = n / 4, step = stride / done;
  for (int row = 0; row < stride; row += done) {
    for (int inner = 0; inner < done; ++inner) {
      const float2* in = from + row + inner;
      float2* out = to + 4 * row + inner;
      const float2 a = in[0], b = times(in[stride], roots[inner * step]);
      const float2 c = times(in[2 * stride], roots[2 * inner * step]);
      const float2 d = times(in[3 * stride], roots[3 * inner * step]);
      const float2 sum = make_float2(a.x + c.x, a.y + c.y);
      const float2 other = make_float2(b.x + d.x, b.y + d.y);
      const float2 gap = make_float2(a.x - c.x, a.y - c.y);
      const float2 turned = make_float2(sign * (d.y - b.y), sign * (b.x - d.x));
      out[0] = make_float2(sum.x + other.x, sum.y + other.y);
      out[done] = make_float2(gap.x + turned.x, gap.y + turned.y);
      out[2 * done] = make_float2(sum.x - other.x, sum.y - other.y);
      out[3 * done] = make_float2(gap.x - turned.x, gap.y - turned.y);
    }
  }
}

// The same for any factor: an output is a sum over `factor` inputs.
__device__ void pass_any(const float2* from, float2* to, const float2* roots, int n, int done,
                         int factor) {
  const int stride = n / factor, length = done * factor;
  for (int i = 0; i < n; ++i) {
    const int frequency = i % length, row = i / length * done + frequency % done;
    float2 sum = from[row];
    int turn = 0; // frequency * p modulo length
    for (int p = 1; p < factor; ++p) {
      turn += frequency;
      turn -= turn >= length ? length : 0;
      const float2 term = times(from[row + p * stride], roots[turn * (n / length)]);
      sum.x += term.x;
      sum.y += term.y;
    }
    to[i] = sum;
  }
}

extern "C" __global__ void fft(const float* __restrict__ x_parts, float* __restrict__ y_parts,
                               int n, int inverse) {
  extern __shared__ float2 shared[];
  float2 *from = shared, *to = shared + n, *roots = shared + 2 * n;
  const float sign = inverse ? 1.0f : -1.0f;
  const size_t start = (size_t)blockIdx.x * n * 2;
  memcpy(from, x_parts + start, n * sizeof(float2));
  for (int t = 0; t < n; ++t) {
    float s, c;
    sincospif(2.0f * t / n, &s, &c);
    roots[t] = make_float2(c, sign * s);
  }
  for (int done = 1; done < n;) {
    const int factor = next_factor(n / done);
    if (factor == 4) {
      pass_4(from, to, roots, n, done, sign);
    } else {
      pass_any(from, to, roots, n, done, factor);
    }
    done *= factor;
    float2* last = from;
    from = to;
    to = last;
  }
  memcpy(y_parts + start, from, n * sizeof(float2));
}
