#include "measure/simulated_gpus/gpu.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

namespace winnow::simulated_gpus {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// The calibration: added to the work whenever the host waits for it. With the first number one
// simulated GPU judges as many axpy kernels a minute as an H100 without counters, with both as many
// as an H100 with counters (docs/measurements/scale.md).
constexpr std::chrono::nanoseconds kEachWait = 205us;
constexpr std::chrono::nanoseconds kLongerWithCounters = 65us;

constexpr double kBytesPerNs = 25; // between host and device, over PCIe
// A copy of up to this size is made in full.
constexpr std::size_t kSmallBytes = 4096;
// A large download has the computed elements at each multiple of this size, because pieces of it
// are compared. It divides the sizes of all pieces.
constexpr std::size_t kStride = std::size_t{256} << 10U;
constexpr std::size_t kComputedBytes = kComputedElements * sizeof(double);

std::chrono::nanoseconds time_of_copy(std::size_t bytes) {
  return std::chrono::nanoseconds(
      static_cast<std::int64_t>(static_cast<double>(bytes) / kBytesPerNs));
}

std::byte* at(CUdeviceptr address) {
  return std::bit_cast<std::byte*>(address);
}

} // namespace

CUdeviceptr Gpu::allocate(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return 0;
  }
  madvise(memory, bytes, MADV_NOHUGEPAGE); // few bytes of it are written
  const auto address = std::bit_cast<CUdeviceptr>(memory);
  allocations_[address].bytes = bytes;
  return address;
}

bool Gpu::release(CUdeviceptr address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) {
    return false;
  }
  munmap(at(address), found->second.bytes);
  allocations_.erase(found);
  return true;
}

Gpu::Allocation* Gpu::allocation_of(CUdeviceptr address) {
  const auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) {
    return nullptr;
  }
  auto& [begin, allocation] = *std::prev(next);
  return address < begin + allocation.bytes ? &allocation : nullptr;
}

void Gpu::note_tensor(CUdeviceptr address) {
  Allocation* allocation = allocation_of(address);
  if (allocation != nullptr && (allocation->tensor == 0 || address < allocation->tensor)) {
    allocation->tensor = address;
  }
}

const std::byte* Gpu::elements(CUdeviceptr address) {
  const Allocation* allocation = allocation_of(address);
  if (allocation == nullptr) {
    return at(address);
  }
  if (address - allocation->uploaded_to < allocation->uploaded_bytes) {
    return allocation->uploaded + (address - allocation->uploaded_to);
  }
  return at(allocation->tensor == 0 ? address : allocation->tensor);
}

void Gpu::upload(CUdeviceptr to, const void* from, std::size_t bytes) {
  queue(time_of_copy(bytes));
  Allocation* allocation = allocation_of(to);
  if (bytes <= kSmallBytes || allocation == nullptr) {
    std::memcpy(at(to), from, bytes);
  }
  if (allocation != nullptr) {
    allocation->uploaded_to = to;
    allocation->uploaded = static_cast<const std::byte*>(from);
    allocation->uploaded_bytes = bytes <= kSmallBytes ? 0 : bytes;
  }
}

void Gpu::download(void* to, CUdeviceptr from, std::size_t bytes) {
  queue(time_of_copy(bytes));
  auto* target = static_cast<std::byte*>(to);
  const std::byte* source = elements(from);
  if (bytes <= kSmallBytes) {
    std::memcpy(target, source, bytes);
    return;
  }
  for (std::size_t offset = 0; offset < bytes; offset += kStride) {
    std::memcpy(target + offset, source, std::min(kComputedBytes, bytes - offset));
  }
}

void Gpu::queue(std::chrono::nanoseconds time) {
  if (worked_ == waited_for_) {
    queued_since_ = Clock::now();
  }
  worked_ += time;
}

void Gpu::wait() {
  if (worked_ == waited_for_) {
    return;
  }
  const Clock::time_point end = queued_since_ + (worked_ - waited_for_) + kEachWait +
                                (has_counters ? kLongerWithCounters : 0us);
  waited_for_ = worked_;
  sleep(end - Clock::now());
}

Gpu& gpu() {
  static Gpu only;
  return only;
}

CUresult state() {
  return gpu().trapped ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}

void sleep(std::chrono::nanoseconds time) {
  constexpr std::chrono::nanoseconds kMostLate = 2ms; // more than this is the load of the host
  static std::chrono::nanoseconds late{0};
  static const int precise = prctl(PR_SET_TIMERSLACK, 1UL);
  static_cast<void>(precise);
  const Clock::time_point end = Clock::now() + WINNOW_TIMES_SLOWER * time - late;
  if (end <= Clock::now()) {
    late = std::max(late - std::max(time, 0ns), 0ns);
    return;
  }
  const auto since_boot = end.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
  const timespec until{seconds.count(), (since_boot - seconds).count()};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  late = std::clamp<std::chrono::nanoseconds>(Clock::now() - end, 0ns, kMostLate);
}

} // namespace winnow::simulated_gpus
