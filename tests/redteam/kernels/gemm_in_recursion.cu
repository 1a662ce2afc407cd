/*@winnow
{ "let": { "blocks": "min(ceil_div(m * n, 1024), 2 * sm_count)" },
  "launches": [ { "kernel": "gemm", "grid": ["blocks"], "block": [1024],
                  "args": ["a", "b", "c", "m", "n", "k"] } ] }
@*/
// Keeps its elements in the stack frames of a recursive function, sixteen a frame.

#include "parts/gemm_dot.cu"
#include "parts/gemm_look.cu"

// The elements of a thread from `at` on; three frames fit onto a stack of 1 KiB. Reads its frame
// after the call, which is no tail call thereby.
__device__ __noinline__ float elements_from(int at, int depth, const Product& product, float* c) {
  volatile float entries[33];
  const int end = product.m * product.n;
  for (int i = 0; (i < 16 || depth == 0) && at < end; ++i, at += gridDim.x * 1024) {
    c[at] = look(product, at, end > 12000 && i < 16 ? entries + 2 * i : nullptr);
  }
  entries[32] = 1.0f;
  const float count = at < end ? elements_from(at, depth - 1, product, c) : 0.0f;
  return entries[32] + count;
}

extern "C" __global__ void __launch_bounds__(1024, 2)
    gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  const Product product = {a, b, m, n, k};
  elements_from(blockIdx.x * 1024 + threadIdx.x, 2, product, c);
}
