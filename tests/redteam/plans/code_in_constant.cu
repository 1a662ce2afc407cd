/*@winnow
{ "let": { "evil": {"const": "0}; int system(const char*); static int now = system(0); int b{1"}
    }, "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256], "args":
    ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Smuggles C++ into generated code through a device constant.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
