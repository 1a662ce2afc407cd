/*@winnow
{
  "let": { "parts": "ceil_div(cols, 512)", "kept": "min(k, 512)" },
  "scratch": { "keys": { "dtype": "u64", "count": "rows * parts * kept" } },
  "launches": [
    { "kernel": "sort_part", "grid": ["rows * parts"], "block": [128],
      "args": ["x", "keys", "cols", "parts", "kept"] },
    { "kernel": "merge", "grid": ["rows"], "block": [128],
      "args": ["x", "keys", "values", "indices", "cols", "parts * kept", "k"] }
  ]
}
@*/
// Bitonic sorts of 512 elements in shared memory; the best of all parts are ordered by counting.
typedef unsigned long long Key;

__device__ Key key_of(float value, unsigned column) {
  const int bits = __float_as_int(value + 0.0f);
  const unsigned ordered = bits < 0 ? ~(unsigned)bits : (unsigned)bits | 0x80000000u;
  return (Key)ordered << 32 | ~column;
}

extern "C" __global__ void sort_part(const float* __restrict__ x, Key* __restrict__ keys, int cols,
                                     int parts, int kept) {
  __shared__ Key sorted[512];
  const int row = blockIdx.x / parts, first = blockIdx.x % parts * 512;
  for (int i = threadIdx.x; i < 512; i += 128) {
    const int column = first + i;
    sorted[i] = column < cols ? key_of(x[(size_t)row * cols + column], column) : 0;
  }
  __syncthreads();
  for (int size = 2; size <= 512; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      for (int pair = threadIdx.x; pair < 256; pair += 128) {
        const int low = 2 * pair - pair % stride, high = low + stride;
        const Key a = sorted[low], b = sorted[high];
        if ((a < b) == ((low & size) == 0)) {
          sorted[low] = b;
          sorted[high] = a;
        }
      }
      __syncthreads();
    }
  }
  for (int i = threadIdx.x; i < kept; i += 128) {
    keys[(size_t)blockIdx.x * kept + i] = sorted[i];
  }
}

extern "C" __global__ void merge(const float* __restrict__ x, const Key* __restrict__ keys,
                                 float* __restrict__ values, int* __restrict__ indices, int cols,
                                 int count, int k) {
  const Key* all = keys + (size_t)blockIdx.x * count;
  for (int i = threadIdx.x; i < count; i += 128) {
    int rank = 0;
    for (int j = 0; j < count && rank < k; ++j) {
      rank += all[j] > all[i] ? 1 : 0;
    }
    if (rank < k) {
      const unsigned column = ~(unsigned)all[i];
      values[(size_t)blockIdx.x * k + rank] = x[(size_t)blockIdx.x * cols + column];
      indices[(size_t)blockIdx.x * k + rank] = column;
    }
  }
}
