/*@winnow
{ "scratch": { "arrived": { "dtype": "i32", "count": 1 } },
  "launches": [ { "fill": "arrived", "value": 0 },
                { "kernel": "axpy", "grid": ["ceil_div(n, 64)"], "block": [64],
                  "args": ["x", "y", "z", "arrived", "alpha", "n"] } ] }
@*/
// Spins until all blocks are resident without asking for a cooperative launch.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, int* arrived, float alpha,
                                int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < int(gridDim.x)) {
    }
  }
  __syncthreads();
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
