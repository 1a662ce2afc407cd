/*@winnow
{
  "launches": [
    { "kernel": "expert_gemm", "grid": ["ceil_div(n, 16)", "experts"], "block": [1],
      "args": ["x", "w", "expert", "y", "tokens * topk", "topk", "n", "k"] }
  ]
}
@*/
// A block is one thread with sixteen columns of one expert. It collects the slots of the expert, 32
// at a time, and takes 64 columns of x and w at a time into local memory as floats, with zeros at
// the edges. Four slots of sixteen sums stay in vector registers.
#include <cuda_bf16.h>

constexpr int kRows = 32, kColumns = 16, kDepth = 64;

__device__ void multiply(const __nv_bfloat16* x, const __nv_bfloat16* w, const int* slots,
                         int found, int columns, int topk, int k, float (*sums)[kColumns]) {
  for (int start = 0; start < k; start += kDepth) {
    const int depth = min(kDepth, k - start);
    float x_tile[kRows][kDepth], w_tile[kDepth][kColumns];
    for (int i = 0; i < kRows; ++i) {
      for (int p = 0; p < depth; ++p) {
        const size_t row = i < found ? slots[i] / topk : 0;
        x_tile[i][p] = i < found ? __bfloat162float(x[row * k + start + p]) : 0.0f;
      }
    }
    for (int p = 0; p < depth; ++p) {
      for (int j = 0; j < kColumns; ++j) {
        w_tile[p][j] = j < columns ? __bfloat162float(w[(size_t)j * k + start + p]) : 0.0f;
      }
    }
    for (int i = 0; i < found; i += 4) {
      float four[4][kColumns];
      memcpy(four, sums[i], sizeof(four));
      for (int p = 0; p < depth; ++p) {
#pragma unroll
        for (int row = 0; row < 4; ++row) {
#pragma unroll
          for (int j = 0; j < kColumns; ++j) {
            four[row][j] += x_tile[i + row][p] * w_tile[p][j];
          }
        }
      }
      memcpy(sums[i], four, sizeof(four));
    }
  }
}

__global__ void expert_gemm(const __nv_bfloat16* __restrict__ x,
                            const __nv_bfloat16* __restrict__ w, const int* __restrict__ expert,
                            __nv_bfloat16* __restrict__ y, int slots, int topk, int n, int k) {
  const int left = blockIdx.x * kColumns, columns = min(kColumns, n - left);
  const __nv_bfloat16* weights = w + ((size_t)blockIdx.y * n + left) * k;
  for (int next = 0; next < slots;) {
    int own[kRows], found = 0;
    for (; next < slots && found < kRows; ++next) {
      if (expert[next] == (int)blockIdx.y) {
        own[found++] = next;
      }
    }
    float sums[kRows][kColumns] = {};
    multiply(x, weights, own, found, columns, topk, k, sums);
    for (int i = 0; i < found; ++i) {
      for (int j = 0; j < columns; ++j) {
        y[(size_t)own[i] * n + left + j] = __float2bfloat16(sums[i][j]);
      }
    }
  }
}
