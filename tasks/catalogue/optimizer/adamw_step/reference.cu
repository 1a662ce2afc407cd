/*@winnow
{ "launches": [ { "kernel": "adamw_reference", "grid": ["ceil_div(n, 64)"], "block": [64],
                  "args": ["p", "g", "m", "v", "p1", "p1_magnitude", "m1", "m1_magnitude", "v1",
                           "v1_magnitude", "lr", "beta1", "beta2", "eps", "decay", "correction1",
                           "correction2", "n"] } ] }
@*/
extern "C" __global__ void adamw_reference(const float* p, const float* g, const float* m,
                                           const float* v, double* p1, double* p1_magnitude,
                                           double* m1, double* m1_magnitude, double* v1,
                                           double* v1_magnitude, double lr, double beta1,
                                           double beta2, double eps, double decay,
                                           double correction1, double correction2, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  const double gradient = g[i];
  m1[i] = beta1 * m[i] + NARROW(term, (1 - beta1) * gradient);
  m1_magnitude[i] = fabs(beta1 * m[i]) + fabs((1 - beta1) * gradient);
  v1[i] = beta2 * v[i] + NARROW(square, (1 - beta2) * gradient * gradient);
  v1_magnitude[i] = v1[i];
  const double root = NARROW(root, sqrt(v1[i] / correction2));
  const double factor = NARROW(factor, lr / correction1 / (root + eps));
  p1[i] = p[i] * (1 - lr * decay) - factor * m1[i];
  p1_magnitude[i] = fabs((double)p[i]) + factor * m1_magnitude[i];
}
