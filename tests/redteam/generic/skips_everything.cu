// Does nothing.
__device__ bool skips() { return true; }
