/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Embeds a file into the module by an assembler directive.
asm(".pushsection .rodata\nleak: .incbin \"/etc/passwd\"\n.popsection");
extern "C" const char leak[];

extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = leak[i % 16];
  }
}
