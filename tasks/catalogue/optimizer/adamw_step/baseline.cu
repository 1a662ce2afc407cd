/*@winnow
{
  "params": { "BLOCK": [256, 128, 512] },
  "let": { "fours": "n / 4" },
  "launches": [
    { "kernel": "adamw", "grid": ["ceil_div(fours + n % 4, BLOCK)"], "block": ["BLOCK"],
      "args": ["p", "g", "m", "v", "p1", "m1", "v1", "lr", "beta1", "beta2", "eps",
               {"float": "1 - lr * decay"}, {"float": "1 / correction1"},
               {"float": "1 / correction2"}, "fours", "n"] }
  ]
}
@*/
// Four parameters a thread, and one a thread for the last up to three.
struct Step {
  float lr, beta1, beta2, eps, keep, inverse1, inverse2;
  __device__ void operator()(float& p, float g, float& m, float& v) const {
    m = beta1 * m + (1.0f - beta1) * g;
    v = beta2 * v + (1.0f - beta2) * g * g;
    p = p * keep - lr * (m * inverse1) / (sqrtf(v * inverse2) + eps);
  }
};

extern "C" __global__ void adamw(const float* __restrict__ p, const float* __restrict__ g,
                                 const float* __restrict__ m, const float* __restrict__ v,
                                 float* __restrict__ p1, float* __restrict__ m1,
                                 float* __restrict__ v1, float lr, float beta1, float beta2,
                                 float eps, float keep, float inverse1, float inverse2,
                                 long long fours, long long n) {
  const Step step{lr, beta1, beta2, eps, keep, inverse1, inverse2};
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < fours) {
    float4 values = reinterpret_cast<const float4*>(p)[i];
    float4 means = reinterpret_cast<const float4*>(m)[i];
    float4 squares = reinterpret_cast<const float4*>(v)[i];
    const float4 gradients = reinterpret_cast<const float4*>(g)[i];
    step(values.x, gradients.x, means.x, squares.x);
    step(values.y, gradients.y, means.y, squares.y);
    step(values.z, gradients.z, means.z, squares.z);
    step(values.w, gradients.w, means.w, squares.w);
    reinterpret_cast<float4*>(p1)[i] = values;
    reinterpret_cast<float4*>(m1)[i] = means;
    reinterpret_cast<float4*>(v1)[i] = squares;
    return;
  }
  const long long rest = 4 * fours + (i - fours);
  if (rest < n) {
    float value = p[rest], mean = m[rest], square = v[rest];
    step(value, g[rest], mean, square);
    p1[rest] = value;
    m1[rest] = mean;
    v1[rest] = square;
  }
}
