/*@winnow
{
  "let": { "size": "max(16, next_pow2(2 * n))", "pairs": "ceil_div(batch, 2)" },
  "scratch": { "root": { "dtype": "f32", "count": "2 * size", "keep": true },
               "spectrum": { "dtype": "f32", "count": "2 * channels * size", "keep": true } },
  "prepare": [
    { "kernel": "make_roots", "grid": [1], "block": [1], "args": ["root", "size"] },
    { "kernel": "transform_filter", "grid": ["channels"], "block": [1],
      "args": ["h", "root", "spectrum", "n", "size"] }
  ],
  "launches": [
    { "kernel": "convolve", "grid": ["channels", "pairs"], "block": [1], "shared_bytes": "8 * size",
      "args": ["u", "skip", "root", "spectrum", "y", "batch", "n", "size"] }
  ]
}
@*/
// A block is one thread with two sequences, as real and imaginary part of one transform. Radix 2 in
// place, down in frequency and up in time, without putting frequencies in order; real and imaginary
// parts are apart, so that neighbouring frequencies fill a vector register.
extern "C" __global__ void make_roots(float* root, int size) {
  for (int half = size / 2, at = 0; half >= 1; at += half, half /= 2) {
    for (int k = 0; k < half; ++k) {
      sincospif(-(float)k / half, &root[size + at + k], &root[at + k]);
    }
  }
}

__device__ void down(float* re, float* im, const float* root, int size) {
  for (int half = size / 2, at = 0; half >= 1; at += half, half /= 2) {
    const float *c = root + at, *s = root + size + at;
    for (int first = 0; first < size; first += 2 * half) {
      float *x = re + first, *y = im + first;
      for (int k = 0; k < half; ++k) {
        const float gap_x = x[k] - x[k + half], gap_y = y[k] - y[k + half];
        x[k] += x[k + half];
        y[k] += y[k + half];
        x[k + half] = gap_x * c[k] - gap_y * s[k];
        y[k + half] = gap_x * s[k] + gap_y * c[k];
      }
    }
  }
}

// Back again, times `size`.
__device__ void up(float* re, float* im, const float* root, int size) {
  for (int half = 1, at = size - 2; half < size; half *= 2, at -= half) {
    const float *c = root + at, *s = root + size + at;
    for (int first = 0; first < size; first += 2 * half) {
      float *x = re + first, *y = im + first;
      for (int k = 0; k < half; ++k) {
        const float turned_x = x[k + half] * c[k] + y[k + half] * s[k];
        const float turned_y = y[k + half] * c[k] - x[k + half] * s[k];
        x[k + half] = x[k] - turned_x;
        y[k + half] = y[k] - turned_y;
        x[k] += turned_x;
        y[k] += turned_y;
      }
    }
  }
}

extern "C" __global__ void transform_filter(const float* h, const float* root, float* spectrum,
                                            int n, int size) {
  float* re = spectrum + (size_t)blockIdx.x * 2 * size;
  memset(re, 0, 2 * size * sizeof(float));
  memcpy(re, h + (size_t)blockIdx.x * n, n * sizeof(float));
  down(re, re + size, root, size);
}

extern "C" __global__ void convolve(const float* __restrict__ u, const float* __restrict__ skip,
                                    const float* __restrict__ root,
                                    const float* __restrict__ spectrum, float* __restrict__ y,
                                    int batch, int n, int size) {
  extern __shared__ float shared[];
  const int channel = blockIdx.x, row = 2 * blockIdx.y, channels = gridDim.x;
  const size_t start = ((size_t)row * channels + channel) * n, next = start + (size_t)channels * n;
  const bool has_next = row + 1 < batch;
  float *re = shared, *im = shared + size;
  memset(shared, 0, 2 * size * sizeof(float));
  memcpy(re, u + start, n * sizeof(float));
  if (has_next) {
    memcpy(im, u + next, n * sizeof(float));
  }
  down(re, im, root, size);
  const float *x = spectrum + (size_t)channel * 2 * size, *z = x + size;
  for (int i = 0; i < size; ++i) {
    const float real = re[i] * x[i] - im[i] * z[i];
    im[i] = re[i] * z[i] + im[i] * x[i];
    re[i] = real;
  }
  up(re, im, root, size);
  const float scale = 1.0f / size, own = skip[channel];
  for (int t = 0; t < n; ++t) {
    y[start + t] = scale * re[t] + own * u[start + t];
  }
  for (int t = 0; t < n && has_next; ++t) {
    y[next + t] = scale * im[t] + own * u[next + t];
  }
}
