// Warp functions with masks of 32 bits, as CUDA has them, and of 64, as AMD's waves may need.
extern "C" __global__ void warps(float* p, int* q, unsigned long long* wide) {
  float v = p[threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) {
    v += __shfl_down_sync(0xffffffff, v, offset);
  }
  for (int offset = warpSize / 2; offset > 0; offset /= 2) {
    v += __shfl_xor_sync(0xffffffff, v, offset);
  }
  v = __shfl_sync(0xffffffffu, v, 0) + __shfl_up_sync(~0ull, v, 4, 16);
  const unsigned votes = __ballot_sync(0xffffffff, v > 1.0f);
  wide[0] = __ballot_sync(0xffffffffffffffffull, v > 1.0f);
  q[0] = __popc(votes) + __any_sync(__activemask(), v > 2.0f) + __all_sync(-1, v > 3.0f);
  q[1] = __reduce_add_sync(0xffffffff, 3) + __reduce_max_sync(~0u, q[2]);
  q[2] = __match_any_sync(0xffffffff, threadIdx.x / 2);
  int same = 0;
  q[3] = __match_all_sync(0xffffffff, threadIdx.x / 2, &same) + same;
  __syncwarp();
  p[threadIdx.x] = v;
}
static_assert(sizeof(__ballot_sync(0xffffffff, 1)) == 4, "a vote of CUDA's warp");
static_assert(sizeof(__ballot_sync(~0ull, 1)) == 8, "a vote of the wave");
static_assert(sizeof(__activemask()) == 4, "CUDA's warp");
