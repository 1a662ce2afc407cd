/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// The same with an asm that only the preprocessor puts together.
#define JOIN(a, b) a##b
extern "C" int harmless(const char*) JOIN(__a, sm)("system");

extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = float(harmless("true"));
  }
}
