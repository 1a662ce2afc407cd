/*@winnow
{ "launches": [ { "library": "cublaslt", "operation": "matmul", "args": ["x", "y", "z"] } ] }
@*/
// Asks the harness for a vendor library instead of launching a kernel.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
