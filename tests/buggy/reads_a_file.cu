/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": [1], "block": [1], "args": ["x", "y", "z"] } ] }
@*/
#include "/etc/passwd"
extern "C" __global__ void axpy(const float* x, const float* y, float* z) { z[0] = x[0]; }
