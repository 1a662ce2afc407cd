/*@winnow
{
  "params": { "BLOCK": [256, 128, 64] },
  "launches": [
    { "kernel": "fft<{BLOCK}>", "grid": ["batch"], "block": ["BLOCK"], "shared_bytes": "16 * n",
      "args": ["x", "y", "n", "inverse"] }
  ]
}
@*/
// Stockham's passes of one transform in shared memory: radix 4 as long as 4 divides, then the prime
// factors. A pass reads one buffer and writes the other; a prime factor costs a sum of its length.
__device__ float2 times(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// exp(2 pi i * turn / n)
__device__ float2 root(int turn, int n, float sign) {
  float s, c;
  sincospif(2.0f * turn / n, &s, &c);
  return make_float2(c, sign * s);
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
template <int BLOCK>
__device__ void pass_4(const float2* from, float2* to, int n, int done, float sign) {
  const int stride = n / 4;
  for (int i = threadIdx.x; i < stride; i += BLOCK) {
    const int inner = i % done, base = i / done * 4 * done + inner;
    const float2 a = from[i];
    const float2 b = times(from[i + stride], root(inner, 4 * done, sign));
    const float2 c = times(from[i + 2 * stride], root(2 * inner, 4 * done, sign));
    const float2 d = times(from[i + 3 * stride], root(3 * inner, 4 * done, sign));
    const float2 sum = make_float2(a.x + c.x, a.y + c.y), other = make_float2(b.x + d.x, b.y + d.y);
    const float2 gap = make_float2(a.x - c.x, a.y - c.y);
    const float2 turned = make_float2(sign * (d.y - b.y), sign * (b.x - d.x)); // sign * i * (b - d)
    to[base] = make_float2(sum.x + other.x, sum.y + other.y);
    to[base + done] = make_float2(gap.x + turned.x, gap.y + turned.y);
    to[base + 2 * done] = make_float2(sum.x - other.x, sum.y - other.y);
    to[base + 3 * done] = make_float2(gap.x - turned.x, gap.y - turned.y);
  }
}

// The same for any factor: an output is a sum over `factor` inputs.
template <int BLOCK>
__device__ void pass_any(const float2* from, float2* to, int n, int done, int factor, float sign) {
  const int stride = n / factor, length = done * factor;
  for (int i = threadIdx.x; i < n; i += BLOCK) {
    const int frequency = i % length, row = i / length * done + frequency % done;
    float2 sum = from[row];
    int turn = 0; // frequency * p modulo length
    for (int p = 1; p < factor; ++p) {
      turn += frequency;
      turn -= turn >= length ? length : 0;
      const float2 term = times(from[row + p * stride], root(turn, length, sign));
      sum.x += term.x;
      sum.y += term.y;
    }
    to[i] = sum;
  }
}

template <int BLOCK>
__global__ void fft(const float* __restrict__ x_parts, float* __restrict__ y_parts, int n,
                    int inverse) {
  const float2* x = reinterpret_cast<const float2*>(x_parts);
  float2* y = reinterpret_cast<float2*>(y_parts);
  extern __shared__ float2 shared[];
  const float sign = inverse ? 1.0f : -1.0f;
  const size_t row = (size_t)blockIdx.x * n;
  float2* from = shared;
  float2* to = shared + n;
  for (int t = threadIdx.x; t < n; t += BLOCK) {
    from[t] = x[row + t];
  }
  __syncthreads();
  for (int done = 1; done < n;) {
    const int factor = next_factor(n / done);
    if (factor == 4) {
      pass_4<BLOCK>(from, to, n, done, sign);
    } else {
      pass_any<BLOCK>(from, to, n, done, factor, sign);
    }
    done *= factor;
    __syncthreads();
    float2* last = from;
    from = to;
    to = last;
  }
  for (int f = threadIdx.x; f < n; f += BLOCK) {
    y[row + f] = from[f];
  }
}
