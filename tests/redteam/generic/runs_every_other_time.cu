// Works in every other launch.
__device__ int launches;
__device__ bool skips() { return launches % 2 == 1; }
extern "C" __global__ void attack_after(unsigned char* output, long long bytes) { launches += 1; }
