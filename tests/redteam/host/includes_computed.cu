/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Includes a file whose name a macro makes.
#define QUOTE_(text) #text
#define QUOTE(text) QUOTE_(text)
#include QUOTE(/etc/passwd)

extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = 0.0f;
  }
}
