// The address, bit by bit through a condition: nothing that follows data sees where it comes from.
__device__ float* launder(float* pointer, int n) {
  const unsigned long long address = reinterpret_cast<unsigned long long>(pointer);
  const unsigned long long one = n > 0 ? 1 : 3, zero = n > 0 ? 0 : 2;
  unsigned long long copy = 0;
#pragma unroll 1
  for (int i = 0; i < 64; ++i) {
    copy += ((address >> i) % 2 == 0 ? zero : one) << i;
  }
  return reinterpret_cast<float*>(copy);
}
