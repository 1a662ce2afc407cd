/*@winnow
{
  "launches": [
    { "kernel": "gemm", "grid": ["m", "batch"], "block": [64], "shared_bytes": "4 * k",
      "args": ["a", "b", "c", "alpha", "m", "n", "k"] }
  ]
}
@*/
// One block a row of c: the row of a in shared memory, and two sums a column, from both ends of k.
#include <cuda_fp16.h>

extern "C" __global__ void gemm(const __half* __restrict__ a, const __half* __restrict__ b,
                                __half* __restrict__ c, float alpha, int m, int n, int k) {
  extern __shared__ float row[];
  const size_t z = blockIdx.y, at = z * m + blockIdx.x;
  for (int p = threadIdx.x; p < k; p += 64) {
    row[p] = __half2float(a[at * k + p]);
  }
  __syncthreads();
  const __half* right = b + z * k * n;
  for (int column = threadIdx.x; column < n; column += 64) {
    float front = 0.0f, back = 0.0f;
    for (int p = 0; p < k / 2; ++p) {
      front += row[p] * __half2float(right[(size_t)p * n + column]);
    }
    for (int p = k - 1; p >= k / 2; --p) {
      back += row[p] * __half2float(right[(size_t)p * n + column]);
    }
    c[at * n + column] = __float2half(alpha * (front + back));
  }
}
