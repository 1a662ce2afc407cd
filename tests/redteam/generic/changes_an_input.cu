// Changes a bit of the first input.
extern "C" __global__ void attack_after(const unsigned char* input, long long bytes) {
  const_cast<unsigned char*>(input)[0] ^= 0x40;
}
