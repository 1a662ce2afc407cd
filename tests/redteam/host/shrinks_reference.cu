/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Redefines the name of the size, so that the harness and its reference do less.
#define blockDim one
#define n 1
struct One {
  int x;
};
static __device__ const One one = {0};

extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  (void)i;
  z[0] = alpha * x[0] + y[0];
}
