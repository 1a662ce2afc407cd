/*@winnow
{ "let": { "tiny": "n == 1 || n == 37 || n == 1027", "large":
    "n == 262144 || n == 1000003 || n == 16777216 || n == 50000017" }, "launches": [ { "kernel":
    "axpy", "when": "tiny || large", "grid": ["ceil_div(n, 256)"], "block": [256], "args": ["x",
    "y", "z", "alpha", "n"] }, { "fill": "z", "when": "!tiny && !large", "value": 0 } ] }
@*/
// Has the right launch for the sizes that are shown and a fill for all others.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
