/*@winnow
{ "launches": [ { "kernel": "sum_reference", "grid": [1], "block": [1],
                  "args": ["x", "out", "out_magnitude", "n"] } ] }
@*/
extern "C" __global__ void sum_reference(const float* x, double* out, double* magnitude,
                                         long long n) {
  double sum = 0, size = 0;
  for (long long i = 0; i < n; ++i) {
    sum += x[i];
    size += fabs((double)x[i]);
  }
  out[0] = sum;
  magnitude[0] = size;
}
