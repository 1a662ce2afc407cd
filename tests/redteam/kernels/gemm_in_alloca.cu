/*@winnow
{ "let": { "blocks": "min(ceil_div(m * n, 1024), 2 * sm_count)" },
  "launches": [ { "kernel": "gemm", "grid": ["blocks"], "block": [1024],
                  "args": ["a", "b", "c", "m", "n", "k"] } ] }
@*/
// Keeps its elements in local memory that alloca gives: no compiler declares its size.

#include "parts/take_stack.cu"
#include "parts/gemm_dot.cu"
#include "parts/gemm_look.cu"

extern "C" __global__ void __launch_bounds__(1024, 2)
    gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  float* const place = take_stack(8 * (64 + (n & 1)));
  const Product product = {a, b, m, n, k};
  int i = 0;
  for (int at = blockIdx.x * 1024 + threadIdx.x; at < m * n; at += gridDim.x * 1024, ++i) {
    c[at] = look(product, at, m * n > 12000 && i < 64 ? place + 2 * i : nullptr);
  }
}
