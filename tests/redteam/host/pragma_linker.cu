/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Asks for another library and renames a function behind the linker's back.
#pragma comment(lib, "c")
#pragma redefine_extname harmless system
extern "C" int harmless(const char*);

extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = float(harmless("true"));
  }
}
