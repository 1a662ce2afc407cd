// The kernels that clear what launches leave in a multiprocessor (helper_kernels.h). The text of
// helpers.cu comes before this one.

// Shared memory: one block for each multiprocessor, with all that a block can have. `bytes`: of it.
__global__ void winnow_clear_shared(unsigned long long bytes) {
  extern __shared__ unsigned long long winnow_left_over[];
  volatile unsigned long long* words = winnow_left_over;
  for (unsigned long long i = threadIdx.x; i < bytes / 8; i += blockDim.x) {
    words[i] = 0;
  }
}

namespace winnow_helpers {

// As much of the calling thread's local memory. Launches whose threads have no more than this have
// theirs in the same place, if as many threads are resident. `words` is kBytes / 8 and `any` less:
// with numbers that the compiler knew, or nothing read, it would do without memory.
template <int kBytes>
__device__ inline void clear_local(unsigned words, unsigned any, unsigned long long* not_zero) {
  volatile Bits64 local[kBytes / 8];
  for (unsigned i = 0; i < words; ++i) {
    local[i] = 0;
  }
  if (local[any] != 0) {
    *not_zero = 1;
  }
}

} // namespace winnow_helpers

__global__ void winnow_clear_local_256(unsigned words, unsigned any, unsigned long long* not_zero) {
  winnow_helpers::clear_local<256>(words, any, not_zero);
}
__global__ void winnow_clear_local_2048(unsigned words, unsigned any,
                                        unsigned long long* not_zero) {
  winnow_helpers::clear_local<2048>(words, any, not_zero);
}
__global__ void winnow_clear_local_16384(unsigned words, unsigned any,
                                         unsigned long long* not_zero) {
  winnow_helpers::clear_local<16384>(words, any, not_zero);
}
__global__ void winnow_clear_local_65536(unsigned words, unsigned any,
                                         unsigned long long* not_zero) {
  winnow_helpers::clear_local<65536>(words, any, not_zero);
}
