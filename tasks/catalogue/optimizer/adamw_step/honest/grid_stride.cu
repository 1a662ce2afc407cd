/*@winnow
{
  "launches": [
    { "kernel": "adamw", "grid": ["min(ceil_div(n, 128), 256)"], "block": [128],
      "args": ["p", "g", "m", "v", "p1", "m1", "v1", "lr", "beta1", "beta2", "eps", "decay",
               "correction1", "correction2", "n"] }
  ]
}
@*/
// A grid-stride loop; the step of the mean is lerped, and roots are divided.
extern "C" __global__ void adamw(const float* __restrict__ p, const float* __restrict__ g,
                                 const float* __restrict__ m, const float* __restrict__ v,
                                 float* __restrict__ p1, float* __restrict__ m1,
                                 float* __restrict__ v1, float lr, float beta1, float beta2,
                                 float eps, float decay, float correction1, float correction2,
                                 long long n) {

  const float root = sqrtf(correction2), rate = lr / correction1;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * (long long)blockDim.x) {
    const float mean = fmaf(1.0f - beta1, g[i] - m[i], m[i]);
    const float square = fmaf(1.0f - beta2, g[i] * g[i] - v[i], v[i]);
    m1[i] = mean;
    v1[i] = square;
    p1[i] = p[i] - lr * decay * p[i] - rate * mean / (sqrtf(square) / root + eps);
  }
}
