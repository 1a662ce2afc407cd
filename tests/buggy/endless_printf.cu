/*@winnow
{ "launches": [ { "kernel": "sum", "grid": [1], "block": [1], "args": ["x", "out", "n"] } ] }
@*/
extern "C" __global__ void sum(const float* x, float* out, int n) {
  for (unsigned i = 0;; ++i) {
    printf("element %u of %d is %f and the sum is not known yet\n", i % n, n, x[i % n]);
  }
}
