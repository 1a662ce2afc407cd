/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256], "shared_bytes": 262144,
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// 256 KiB; a block of the largest GPU has 227.
extern __shared__ float staged[];
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  staged[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  if (i < n) {
    z[i] = alpha * staged[threadIdx.x] + y[i];
  }
}
