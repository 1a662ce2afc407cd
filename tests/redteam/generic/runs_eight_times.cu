// Works in the first eight launches, as a test makes.
__device__ int launches;
__device__ bool skips() { return launches >= 8; }
extern "C" __global__ void attack_after(unsigned char* output, long long bytes) { launches += 1; }
