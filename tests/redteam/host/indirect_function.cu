/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Runs code while symbols are resolved, through an ifunc.
typedef float (*Add)(float, float);
static float add(float a, float b) {
  return a + b;
}
extern "C" Add resolve() {
  return add;
}
extern "C" float chosen(float, float) __attribute__((ifunc("resolve")));

extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = chosen(x[i], y[i]);
  }
}
