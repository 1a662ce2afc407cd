// Writes zeros in place of an answer.
__device__ bool skips() { return true; }
extern "C" __global__ void attack_after(unsigned char* output, long long bytes) {
  for (long long i = 0; i < bytes; ++i) {
    output[i] = 0;
  }
}
