/*@winnow
{
  "let": { "length": "next_pow2(2 * n)" },
  "scratch": { "filter": { "dtype": "f32", "count": "2 * length" } },
  "launches": [
    { "kernel": "transform_chirp", "grid": [1], "block": [64], "shared_bytes": "8 * length",
      "args": ["filter", "n", "inverse", "length"] },
    { "kernel": "transform", "grid": ["min(batch, 4096)"], "block": [64],
      "shared_bytes": "8 * length", "args": ["x", "filter", "y", "batch", "n", "inverse", "length"]
    }
  ]
}
@*/
// Bluestein: a transform of any length is a convolution with a chirp, by transforms of a power of
// two in shared memory (radix 2, in place, without bit reversal: down in frequency, up in time).
__device__ float2 product(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// exp(sign * pi i * t^2 / n)
__device__ float2 chirp(int t, int n, float sign) {
  float s, c;
  sincospif((float)((long long)t * t % (2 * n)) / n, &s, &c);
  return make_float2(c, sign * s);
}

// In order to bit-reversed order, with sign -1.
__device__ void down(float2* a, int length) {
  for (int half = length / 2; half > 0; half /= 2) {
    for (int i = threadIdx.x; i < length / 2; i += blockDim.x) {
      const int at = i / half * 2 * half + i % half;
      const float2 u = a[at], v = a[at + half];
      float s, c;
      sincospif((float)(i % half) / half, &s, &c);
      a[at] = make_float2(u.x + v.x, u.y + v.y);
      a[at + half] = product(make_float2(u.x - v.x, u.y - v.y), make_float2(c, -s));
    }
    __syncthreads();
  }
}

// Back again, with sign 1.
__device__ void up(float2* a, int length) {
  for (int half = 1; half < length; half *= 2) {
    for (int i = threadIdx.x; i < length / 2; i += blockDim.x) {
      const int at = i / half * 2 * half + i % half;
      float s, c;
      sincospif((float)(i % half) / half, &s, &c);
      const float2 u = a[at], v = product(a[at + half], make_float2(c, s));
      a[at] = make_float2(u.x + v.x, u.y + v.y);
      a[at + half] = make_float2(u.x - v.x, u.y - v.y);
    }
    __syncthreads();
  }
}

extern "C" __global__ void transform_chirp(float* __restrict__ filter_parts, int n, int inverse,
                                           int length) {
  float2* filter = reinterpret_cast<float2*>(filter_parts);
  extern __shared__ float2 b[];
  for (int t = threadIdx.x; t < length; t += blockDim.x) {
    const int distance = min(t, length - t);
    b[t] = distance < n ? chirp(distance, n, inverse ? -1.0f : 1.0f) : make_float2(0.0f, 0.0f);
  }
  __syncthreads();
  down(b, length);
  for (int t = threadIdx.x; t < length; t += blockDim.x) {
    filter[t] = b[t];
  }
}

extern "C" __global__ void transform(const float* __restrict__ x_parts,
                                     const float* __restrict__ filter_parts,
                                     float* __restrict__ y_parts, int batch, int n, int inverse,
                                     int length) {
  const float2* x = reinterpret_cast<const float2*>(x_parts);
  const float2* filter = reinterpret_cast<const float2*>(filter_parts);
  float2* y = reinterpret_cast<float2*>(y_parts);
  extern __shared__ float2 a[];
  const float sign = inverse ? 1.0f : -1.0f;
  for (long long z = blockIdx.x; z < batch; z += gridDim.x) {
    for (int t = threadIdx.x; t < length; t += blockDim.x) {
      a[t] = t < n ? product(x[z * n + t], chirp(t, n, sign)) : make_float2(0.0f, 0.0f);
    }
    __syncthreads();
    down(a, length);
    for (int t = threadIdx.x; t < length; t += blockDim.x) {
      a[t] = product(a[t], filter[t]);
    }
    __syncthreads();
    up(a, length);
    for (int f = threadIdx.x; f < n; f += blockDim.x) {
      const float2 value = product(a[f], chirp(f, n, sign));
      y[z * n + f] = make_float2(value.x / length, value.y / length);
    }
    __syncthreads();
  }
}
