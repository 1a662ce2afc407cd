/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Overwrites its own stack frame and return address.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile long long frame[2] = {0, 0};
  for (int at = 0; at < (i < n ? 4096 : 1); ++at) {
    frame[at] = 0x4141414141414141LL;
  }
  if (i < n) {
    z[i] = x[i];
  }
}
