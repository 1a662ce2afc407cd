/*@winnow
{
  "params": { "BLOCK": [256, 128, 512] },
  "let": { "size": "min(4096, next_pow2(2 * n))", "half": "size / 2", "parts": "ceil_div(n, half)",
           "pairs": "ceil_div(batch, 2)" },
  "scratch": { "h_spectrum": { "dtype": "f32", "count": "2 * channels * parts * size", "keep": true
}, "u_spectrum": { "dtype": "f32", "count": "2 * pairs * channels * parts * size" } }, "prepare": [
    { "kernel": "transform_filter<{BLOCK}>", "grid": ["parts", "channels"], "block": ["BLOCK"],
      "shared_bytes": "8 * size", "args": ["h", "h_spectrum", "n", "size"] }
  ],
  "launches": [
    { "kernel": "transform<{BLOCK}>", "grid": ["parts", "channels", "pairs"], "block": ["BLOCK"],
      "shared_bytes": "8 * size", "args": ["u", "u_spectrum", "batch", "n", "size"] },
    { "kernel": "multiply<{BLOCK}>", "grid": ["parts", "channels", "pairs"], "block": ["BLOCK"],
      "shared_bytes": "8 * size",
      "args": ["u_spectrum", "h_spectrum", "u", "skip", "y", "batch", "n", "size"] }
  ]
}
@*/
// Sequence and filter in parts of up to 2048, by transforms of twice that length in shared memory;
// those of the filter are made once. A transform takes two sequences, as real and imaginary part,
// and of each a part and the part before it; the second half of a product's transform back is
// without what wraps around. Radix 4 in place, down in frequency and up in time, without putting
// frequencies in order.
__device__ float2 times(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

__device__ float2 sum_of(float2 a, float2 b) {
  return make_float2(a.x + b.x, a.y + b.y);
}

__device__ float2 gap(float2 a, float2 b) {
  return make_float2(a.x - b.x, a.y - b.y);
}

// exp(sign * 2 pi i * turn / length)
__device__ float2 root(int turn, int length, float sign) {
  float s, c;
  sincospif(2.0f * turn / length, &s, &c);
  return make_float2(c, sign * s);
}

template <int BLOCK> __device__ void pass_2(float2* a, int size) {
  for (int i = 2 * threadIdx.x; i < size; i += 2 * BLOCK) {
    const float2 first = a[i], second = a[i + 1];
    a[i] = sum_of(first, second);
    a[i + 1] = gap(first, second);
  }
  __syncthreads();
}

template <int BLOCK> __device__ void down(float2* a, int size) {
  int length = size;
  for (; length >= 4; length /= 4) {
    const int step = length / 4;
    for (int i = threadIdx.x; i < size / 4; i += BLOCK) {
      const int inner = i % step, at = i / step * length + inner;
      const float2 w = root(inner, length, -1.0f), w2 = times(w, w);
      const float2 even = sum_of(a[at], a[at + 2 * step]),
                   odd = sum_of(a[at + step], a[at + 3 * step]);
      const float2 left = gap(a[at], a[at + 2 * step]), right = gap(a[at + step], a[at + 3 * step]);
      a[at] = sum_of(even, odd);
      a[at + step] = times(make_float2(left.x + right.y, left.y - right.x), w);
      a[at + 2 * step] = times(gap(even, odd), w2);
      a[at + 3 * step] = times(make_float2(left.x - right.y, left.y + right.x), times(w, w2));
    }
    __syncthreads();
  }
  if (length == 2) {
    pass_2<BLOCK>(a, size);
  }
}

// Back again, times `size`.
template <int BLOCK> __device__ void up(float2* a, int size) {
  int length = __ffs(size) % 2 == 0 ? 2 : 1; // 2 for odd powers of two
  if (length == 2) {
    pass_2<BLOCK>(a, size);
  }
  for (length *= 4; length <= size; length *= 4) {
    const int step = length / 4;
    for (int i = threadIdx.x; i < size / 4; i += BLOCK) {
      const int inner = i % step, at = i / step * length + inner;
      const float2 w = root(inner, length, 1.0f), w2 = times(w, w);
      const float2 second = times(a[at + step], w), fourth = times(a[at + 3 * step], times(w, w2));
      const float2 third = times(a[at + 2 * step], w2);
      const float2 even = sum_of(a[at], third), odd = sum_of(second, fourth);
      const float2 left = gap(a[at], third), right = gap(second, fourth);
      a[at] = sum_of(even, odd);
      a[at + step] = make_float2(left.x - right.y, left.y + right.x);
      a[at + 2 * step] = gap(even, odd);
      a[at + 3 * step] = make_float2(left.x + right.y, left.y - right.x);
    }
    __syncthreads();
  }
}

template <int BLOCK>
__global__ void transform_filter(const float* __restrict__ h, float* __restrict__ spectrum, int n,
                                 int size) {
  extern __shared__ float2 a[];
  const int half = size / 2, first = blockIdx.x * half;
  for (int i = threadIdx.x; i < size; i += BLOCK) {
    const bool is_inside = i < half && first + i < n;
    a[i] = make_float2(is_inside ? h[(size_t)blockIdx.y * n + first + i] : 0.0f, 0.0f);
  }
  __syncthreads();
  down<BLOCK>(a, size);
  float2* to = reinterpret_cast<float2*>(spectrum);
  to += ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * size;
  for (int i = threadIdx.x; i < size; i += BLOCK) {
    to[i] = a[i];
  }
}

template <int BLOCK>
__global__ void transform(const float* __restrict__ u, float* __restrict__ spectrum, int batch,
                          int n, int size) {
  extern __shared__ float2 a[];
  const int first = ((int)blockIdx.x - 1) * (size / 2), row = 2 * blockIdx.z;
  const float* one = u + ((size_t)row * gridDim.y + blockIdx.y) * n;
  const float* other = one + (size_t)gridDim.y * n;
  for (int i = threadIdx.x; i < size; i += BLOCK) {
    const int t = first + i;
    const bool is_inside = t >= 0 && t < n;
    a[i] = make_float2(is_inside ? one[t] : 0.0f, is_inside && row + 1 < batch ? other[t] : 0.0f);
  }
  __syncthreads();
  down<BLOCK>(a, size);
  float2* to = reinterpret_cast<float2*>(spectrum);
  to += (((size_t)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * size;
  for (int i = threadIdx.x; i < size; i += BLOCK) {
    to[i] = a[i];
  }
}

template <int BLOCK>
__global__ void multiply(const float* __restrict__ u_spectrum, const float* __restrict__ h_spectrum,
                         const float* __restrict__ u, const float* __restrict__ skip,
                         float* __restrict__ y, int batch, int n, int size) {
  extern __shared__ float2 a[];
  const int part = blockIdx.x, channel = blockIdx.y, half = size / 2, row = 2 * blockIdx.z;
  const size_t channels = gridDim.y, parts = gridDim.x;
  const float2* us = reinterpret_cast<const float2*>(u_spectrum);
  const float2* hs = reinterpret_cast<const float2*>(h_spectrum) + channel * parts * size;
  us += (blockIdx.z * channels + channel) * parts * size;
  for (int i = threadIdx.x; i < size; i += BLOCK) {
    float2 sum = make_float2(0.0f, 0.0f);
    for (int tap = 0; tap <= part; ++tap) {
      sum = sum_of(sum, times(us[(size_t)(part - tap) * size + i], hs[(size_t)tap * size + i]));
    }
    a[i] = sum;
  }
  __syncthreads();
  up<BLOCK>(a, size);
  const float scale = 1.0f / size, own = skip[channel];
  const size_t start = (row * channels + channel) * n, next = start + channels * n;
  for (int i = threadIdx.x; i < min(half, n - part * half); i += BLOCK) {
    const int t = part * half + i;
    y[start + t] = scale * a[half + i].x + own * u[start + t];
    if (row + 1 < batch) {
      y[next + t] = scale * a[half + i].y + own * u[next + t];
    }
  }
}
