// The kernels with which launches are timed (helper_kernels.h). The text of helpers.cu comes before
// this one. Only NVIDIA's GPUs are asked for their clocks; elsewhere these read 0.

namespace winnow_helpers {

struct Clocks {
  Bits64 ns = 0;     // since some moment, the same for the whole device
  Bits64 cycles = 0; // of this multiprocessor
};

__device__ inline Clocks read_clocks() {
  Clocks clocks;
#ifdef __CUDACC_RTC__
  asm volatile("mov.u64 %0, %%globaltimer;\n\tmov.u64 %1, %%clock64;"
               : "=l"(clocks.ns), "=l"(clocks.cycles));
#endif
  return clocks;
}

__device__ inline unsigned multiprocessor() {
  unsigned number = 0;
#ifdef __CUDACC_RTC__
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
#endif
  return number;
}

} // namespace winnow_helpers

// Keeps the stream busy until *released reaches `turn`. After `patience_ns`, or at once where there
// is no clock, it ends nevertheless, and *gave_up becomes `turn`.
__global__ void winnow_hold(const volatile unsigned long long* released, unsigned long long turn,
                            unsigned long long patience_ns, volatile unsigned long long* gave_up) {
  using namespace winnow_helpers;
  if (first_index() != 0) {
    return;
  }
  const Bits64 start = read_clocks().ns;
  while (*released < turn) {
    if (start == 0 || read_clocks().ns - start > patience_ns) {
      *gave_up = turn;
      return;
    }
  }
}

// Writes the device's time and multiprocessor 0's cycles to stamp[0] and stamp[1]. One block for
// each multiprocessor, so that one is on that.
__global__ void winnow_stamp_clock(unsigned long long* stamp) {
  using namespace winnow_helpers;
  if (threadIdx.x == 0 && multiprocessor() == 0) {
    const Clocks clocks = read_clocks();
    stamp[0] = clocks.ns;
    stamp[1] = clocks.cycles;
  }
}

// *step_ns becomes the least by which the device's time moves on, 0 where it does not.
__global__ void winnow_clock_step(unsigned long long* step_ns) {
  using namespace winnow_helpers;
  if (first_index() != 0) {
    return;
  }
  constexpr int kReadings = 4096;
  Bits64 least = 0;
  Bits64 last = read_clocks().ns;
  for (int i = 0; i < kReadings; ++i) {
    const Bits64 now = read_clocks().ns;
    if (now > last && (least == 0 || now - last < least)) {
      least = now - last;
    }
    last = now;
  }
  *step_ns = least;
}
