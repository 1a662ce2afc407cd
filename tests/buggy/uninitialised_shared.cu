/*@winnow
{ "launches": [ { "kernel": "sum", "grid": [1], "block": [64], "args": ["x", "out", "n"] } ] }
@*/
// The accumulator in shared memory is taken for zero.
extern "C" __global__ void sum(const float* x, float* out, int n) {
  __shared__ float total;
  float mine = 0.0f;
  for (int i = threadIdx.x; i < n; i += 64) {
    mine += x[i];
  }
  atomicAdd(&total, mine);
  __syncthreads();
  if (threadIdx.x == 0) {
    out[0] = total;
  }
}
