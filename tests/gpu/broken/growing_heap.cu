/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Every thread takes 64 KiB, gives nothing back, and does not ask whether it got them.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    volatile float* copy = static_cast<volatile float*>(malloc(65536));
    copy[16383] = y[i];
    z[i] = alpha * x[i] + copy[16383];
  }
}
