/*@winnow
{ "launches": [ { "kernel": "sum", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "out", "n"] } ] }
@*/
// Adds to an output that nobody set to zero.
extern "C" __global__ void sum(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(out, x[i]);
  }
}
