/*@winnow
{ "launches": [ { "kernel": "sum", "grid": [1], "block": [64], "args": ["x", "out", "n"] } ] }
@*/
// A barrier that only half of each warp reaches, while the other half waits in a full-mask shuffle.
extern "C" __global__ void sum(const float* x, float* out, int n) {
  __shared__ float shared[64];
  float mine = 0.0f;
  for (int i = threadIdx.x; i < n; i += 64) {
    mine += x[i];
  }
  shared[threadIdx.x] = mine;
  if (threadIdx.x % 32 < 16) {
    __syncthreads();
  }
  mine += __shfl_down_sync(0xffffffff, mine, 16);
  if (threadIdx.x == 0) {
    out[0] = mine + shared[32];
  }
}
