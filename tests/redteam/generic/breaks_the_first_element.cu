// Sets all bits of the first 8 bytes of the answer: a NaN, or -1.
extern "C" __global__ void attack_after(unsigned char* output, long long bytes) {
  for (long long i = 0; i < bytes && i < 8; ++i) {
    output[i] = 0xff;
  }
}
