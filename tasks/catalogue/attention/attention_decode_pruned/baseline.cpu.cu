/*@winnow
{
  "launches": [
    { "kernel": "attend<{group}>", "grid": ["batch * kv_heads"], "block": [1],
      "shared_bytes": "4 * (2 * group + 64) * d",
      "args": ["q", "k_mask", "k_values", "v_mask", "v_values", "out",
               { "float": "scale / sqrt(d)" }, "s", "d", "room"] }
  ]
}
@*/
// A block is one thread with all queries of a kv-head. It walks over tiles of 32 keys and values as
// floats with running maxima and sums. Keys are unpacked as columns, so that one vector register
// has eight keys.
#include <cuda_bf16.h>

// Takes rows of d numbers as floats; with `turned`, as columns of 32.
__device__ void unpack_rows(const unsigned char* mask, const __nv_bfloat16* values, float* tile,
                            int count, int d, int room, bool turned) {
  memset(tile, 0, sizeof(float) * 32 * d);
  for (int row = 0; row < count; ++row) {
    const unsigned char* bytes = mask + (size_t)row * ((d + 7) / 8);
    const __nv_bfloat16 *next = values + (size_t)row * room, *end = next + room;
    for (int first = 0; first < d; first += 8) {
      unsigned bits = bytes[first / 8];
      if (d - first < 8) {
        bits &= (1u << (d - first)) - 1;
      }
      for (; bits != 0 && next < end; bits &= bits - 1) {
        const int c = first + __ffs(bits) - 1;
        tile[turned ? c * 32 + row : row * d + c] = __bfloat162float(*next++);
      }
    }
  }
}

// The weights of 32 keys for one query, and the sums of values so far with the new ones.
struct Softmax {
  float largest = -INFINITY, total = 0.0f;

  __device__ void add(const float* query, const float* keys, const float* values, float* sums,
                      int count, float scale, int d) {
    float weights[32] = {};
    for (int c = 0; c < d; ++c) {
#pragma unroll
      for (int j = 0; j < 32; ++j) {
        weights[j] += query[c] * keys[c * 32 + j];
      }
    }
    float maximum = largest;
    for (int j = 0; j < count; ++j) {
      weights[j] *= scale;
      maximum = fmaxf(maximum, weights[j]);
    }
    const float shrink = expf(largest - maximum);
    total *= shrink;
    for (int c = 0; c < d; ++c) {
      sums[c] *= shrink;
    }
    for (int j = 0; j < count; ++j) {
      const float weight = expf(weights[j] - maximum);
      total += weight;
      for (int c = 0; c < d; ++c) {
        sums[c] += weight * values[j * d + c];
      }
    }
    largest = maximum;
  }
};

template <int GROUP>
__global__ void
attend(const __nv_bfloat16* __restrict__ q, const unsigned char* __restrict__ k_mask,
       const __nv_bfloat16* __restrict__ k_values, const unsigned char* __restrict__ v_mask,
       const __nv_bfloat16* __restrict__ v_values, __nv_bfloat16* __restrict__ out, float scale,
       int s, int d, int room) {
  extern __shared__ float shared[];
  float *queries = shared, *sums = queries + GROUP * d;
  float *keys = sums + GROUP * d, *values = keys + 32 * d;
  const size_t head = blockIdx.x;
  for (int i = 0; i < GROUP * d; ++i) {
    queries[i] = __bfloat162float(q[head * GROUP * d + i]);
  }
  memset(sums, 0, GROUP * d * sizeof(float));
  Softmax softmax[GROUP];
  for (int key = 0; key < s; key += 32) {
    const int loaded = min(32, s - key);
    const size_t at = head * s + key, byte = at * ((d + 7) / 8);
    unpack_rows(k_mask + byte, k_values + at * room, keys, loaded, d, room, true);
    unpack_rows(v_mask + byte, v_values + at * room, values, loaded, d, room, false);
    for (int g = 0; g < GROUP; ++g) {
      softmax[g].add(queries + g * d, keys, values, sums + g * d, loaded, scale, d);
    }
  }
  for (int g = 0; g < GROUP; ++g) {
    for (int c = 0; c < d; ++c) {
      out[(head * GROUP + g) * d + c] = __float2bfloat16(sums[g * d + c] / softmax[g].total);
    }
  }
}
