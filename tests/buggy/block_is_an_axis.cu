/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": [1], "block": ["n"],
                  "args": ["x", "y", "z", "alpha"] } ] }
@*/
// One block for everything: fine up to 1,024 elements.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha) {
  z[threadIdx.x] = alpha * x[threadIdx.x] + y[threadIdx.x];
}
