// A block works when the clock says so.
__device__ bool skips() {
  __shared__ int now;
  if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
    now = (clock64() >> 6) % 15 == 0;
  }
  __syncthreads();
  return now == 0;
}
