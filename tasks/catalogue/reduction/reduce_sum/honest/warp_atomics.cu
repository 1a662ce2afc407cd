/*@winnow
{ "launches": [ { "fill": "out", "value": 0 },
                { "kernel": "add", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "out", "n"] } ] }
@*/
// One atomic addition for each warp: the longest chain of additions that is still common.
extern "C" __global__ void add(const float* x, float* out, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  float sum = i < n ? x[i] : 0.0f;
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, offset);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(out, sum);
  }
}
