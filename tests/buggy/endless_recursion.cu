/*@winnow
{ "launches": [ { "kernel": "sum", "grid": [1], "block": [1], "args": ["x", "out", "n"] } ] }
@*/
__device__ __noinline__ float tail(const float* x, int i, int n, volatile float* keep) {
  volatile float frame[64];
  frame[i % 64] = x[i % n];
  keep[0] = frame[i % 64];
  return tail(x, i + 1, n, keep) + frame[i % 64]; // no end
}

extern "C" __global__ void sum(const float* x, float* out, int n) { out[0] = tail(x, 0, n, out); }
