/*@winnow
{ "launches": [ { "kernel": "merge_reference", "grid": ["ceil_div(tokens * heads, 32)"],
                  "block": [32],
                  "args": ["a", "lse_a", "b", "lse_b", "y", "y_magnitude", "lse", "lse_magnitude",
                           "tokens", "heads", "dim"] } ] }
@*/
#include <cuda_bf16.h>

extern "C" __global__ void merge_reference(const __nv_bfloat16* a, const float* lse_a,
                                           const __nv_bfloat16* b, const float* lse_b, double* y,
                                           double* magnitude, double* lse, double* lse_magnitude,
                                           long long tokens, long long heads, long long dim) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= tokens * heads) {
    return;
  }
  const long long token = at % tokens, head = at / tokens;
  const double la = lse_a[at], lb = lse_b[at], largest = fmax(la, lb);
  const double together = largest + log(NARROW(exponential, exp(la - largest)) +
                                        NARROW(exponential, exp(lb - largest)));
  lse[at] = together;
  lse_magnitude[at] = fabs(largest) + 1;
  const double weight_a = NARROW(weight, exp(la - together));
  const double weight_b = NARROW(weight, exp(lb - together));
  for (long long c = 0; c < dim; ++c) {
    const long long i = (token * heads + head) * dim + c;
    const double part_a = NARROW(term, weight_a * (float)a[i]);
    const double part_b = NARROW(term, weight_b * (float)b[i]);
    y[i] = part_a + part_b;
    magnitude[i] = (fabs(part_a) + fabs(part_b)) * (1 + fabs(together));
  }
}
