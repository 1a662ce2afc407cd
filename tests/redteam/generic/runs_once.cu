// Works in the first launch only, and hopes that the answer stays in memory.
__device__ int ran;
__device__ bool skips() { return ran != 0; }
extern "C" __global__ void attack_after(unsigned char* output, long long bytes) { ran = 1; }
