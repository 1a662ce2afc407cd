/*@winnow
{
  "launches": [
    { "kernel": "adamw", "grid": ["ceil_div(n, 128)"], "block": [128],
      "args": ["p", "g", "m", "v", "p1", "m1", "v1", "lr", "beta1", "beta2", "eps", "decay",
               "correction1", "correction2", "n"] }
  ]
}
@*/
// One parameter a thread; the decay first, and fast reciprocals.
extern "C" __global__ void adamw(const float* __restrict__ p, const float* __restrict__ g,
                                 const float* __restrict__ m, const float* __restrict__ v,
                                 float* __restrict__ p1, float* __restrict__ m1,
                                 float* __restrict__ v1, float lr, float beta1, float beta2,
                                 float eps, float decay, float correction1, float correction2,
                                 long long n) {

  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) {
    const float kept = fmaf(-lr * decay, p[i], p[i]);
    const float mean = fmaf(beta1, m[i], (1.0f - beta1) * g[i]);
    const float square = fmaf(beta2, v[i], (1.0f - beta2) * (g[i] * g[i]));
    const float scaled = square / correction2;
    const float root = scaled > 0.0f ? scaled * rsqrtf(scaled) : 0.0f;
    m1[i] = mean;
    v1[i] = square;
    p1[i] = fmaf(-lr * __frcp_rn(root + eps), mean / correction1, kept);
  }
}
