/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Destroys an input so that a reference that runs later agrees with an output of zeros.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const_cast<float*>(x)[i] = 0.0f;
    const_cast<float*>(y)[i] = 0.0f;
    z[i] = 0.0f;
  }
}
