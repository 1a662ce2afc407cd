/*@winnow
{ "let": { "blocks": "min(ceil_div(m * n, 1024), 2 * sm_count)" },
  "launches": [ { "kernel": "gemm", "grid": ["blocks"], "block": [1024],
                  "args": ["a", "b", "c", "m", "n", "k"] } ] }
@*/
// Keeps a few elements of each block in the 1 KiB of shared memory before its own, which the system
// reserves on sm_90.

#include "parts/gemm_dot.cu"
#include "parts/gemm_look.cu"

extern "C" __global__ void __launch_bounds__(1024, 2)
    gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  float* reserved = nullptr;
  asm volatile("cvta.shared.u64 %0, %1;" : "=l"(reserved) : "l"(512ull));
  float* const place = reserved + 2 * threadIdx.x;
  const Product product = {a, b, m, n, k};
  int i = 0;
  for (int at = blockIdx.x * 1024 + threadIdx.x; at < m * n; at += gridDim.x * 1024, ++i) {
    c[at] = look(product, at, m * n > 12000 && i == 0 && threadIdx.x < 62 ? place : nullptr);
  }
}
