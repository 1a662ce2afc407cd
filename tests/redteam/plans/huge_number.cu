/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": [99999999999999999999999999], "block": [256], "args":
    ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Numbers that fit no integer type.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
