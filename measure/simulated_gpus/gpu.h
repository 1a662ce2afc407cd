#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>

#include <cuda.h>

namespace winnow::simulated_gpus {

/// The simulation computes only this many elements of a tensor, so that it takes little CPU.
constexpr std::size_t kComputedElements = 64;

/// The simulated GPU of this process: memory, a clock, and queued work that takes time. The process
/// sleeps while it waits for the work. Host functions compute the results at once, when the work is
/// queued. For one thread.
class Gpu {
public:
  /// Address space that takes no memory until it is written.
  CUdeviceptr allocate(std::size_t bytes);
  /// False if nothing was allocated at this address.
  bool release(CUdeviceptr address);
  /// Marks that a tensor begins at this address.
  void note_tensor(CUdeviceptr address);
  /// The computed elements that stand for those at `address`: those at the beginning of the tensor
  /// that `address` lies in, or the host memory from which they were uploaded.
  const std::byte* elements(CUdeviceptr address);
  /// The host memory must keep its contents until kernels have used the upload.
  void upload(CUdeviceptr to, const void* from, std::size_t bytes);
  void download(void* to, CUdeviceptr from, std::size_t bytes);

  /// Queues work that takes this much time.
  void queue(std::chrono::nanoseconds time);
  /// Sleeps until all queued work has ended.
  void wait();
  /// The time on the GPU's own clock: how long it has worked.
  std::chrono::nanoseconds worked() const { return worked_; }

  bool trapped = false;      ///< a kernel has trapped: every later call fails
  bool has_counters = false; ///< a session of counters is open, which slows the driver down

private:
  struct Allocation {
    std::size_t bytes = 0;
    CUdeviceptr tensor = 0;      ///< 0: none begins here
    CUdeviceptr uploaded_to = 0; ///< 0: no large upload
    const std::byte* uploaded = nullptr;
    std::size_t uploaded_bytes = 0;
  };
  /// nullptr: `address` is not in an allocation.
  Allocation* allocation_of(CUdeviceptr address);

  std::map<CUdeviceptr, Allocation> allocations_;
  std::chrono::nanoseconds worked_{0};
  std::chrono::nanoseconds waited_for_{0}; ///< worked_ at the last wait()
  std::chrono::steady_clock::time_point queued_since_;
};

/// The only GPU of the process.
Gpu& gpu();

/// The error of every call after a kernel has trapped.
CUresult state();

/// Sleeps this long on average: a sleep that ends late makes the next one shorter.
void sleep(std::chrono::nanoseconds time);

} // namespace winnow::simulated_gpus
