/*@winnow
{
  "launches": [
    { "kernel": "means", "grid": ["ceil_div(n, 128)"], "block": [128],
      "args": ["g", "m", "v", "m1", "v1", "beta1", "beta2", "n"] },
    { "kernel": "update", "grid": ["ceil_div(n, 128)"], "block": [128],
      "args": ["p", "m1", "v1", "p1", "lr", "eps", "decay", "correction1", "correction2", "n"] }
  ]
}
@*/
// Both means in one kernel, the parameters in another one, which reads the means back.
extern "C" __global__ void means(const float* __restrict__ g, const float* __restrict__ m,
                                 const float* __restrict__ v, float* __restrict__ m1,
                                 float* __restrict__ v1, float beta1, float beta2, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) {
    m1[i] = beta1 * m[i] + (1.0f - beta1) * g[i];
    v1[i] = beta2 * v[i] + (1.0f - beta2) * g[i] * g[i];
  }
}

extern "C" __global__ void update(const float* __restrict__ p, const float* __restrict__ m1,
                                  const float* __restrict__ v1, float* __restrict__ p1, float lr,
                                  float eps, float decay, float correction1, float correction2,
                                  long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) {
    const float mean = m1[i] / correction1, square = v1[i] / correction2;
    p1[i] = p[i] * (1.0f - lr * decay) - lr * mean / (sqrtf(square) + eps);
  }
}
