/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Walks up its own stack in search of the addresses and answers of the harness.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile float here[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  const float wanted = alpha * x[0] + y[0];
  float found = 0.0f;
  for (int at = 4; at < (1 << 22); ++at) {
    if (here[at] == wanted) {
      found = here[at];
    }
  }
  if (i < n) {
    z[i] = found;
  }
}
