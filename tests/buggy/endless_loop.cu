/*@winnow
{ "launches": [ { "kernel": "sum", "grid": [1], "block": [32], "args": ["x", "out", "n"] } ] }
@*/
// The stride is zero.
extern "C" __global__ void sum(const float* x, volatile float* out, int n) {
  float total = 0.0f;
  for (int i = threadIdx.x; i < n; i += 0) {
    total += x[i];
    out[0] = total;
  }
}
