#pragma once

#include "base/error.h"
#include "tasks/plan/plan_resolve.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// What a failed driver call means for the candidate and for the context.
enum class GpuFailure : std::uint8_t {
  InvalidLaunch,   ///< refused before anything ran: dimensions, resources, arguments
  IllegalAddress,  ///< an access outside of all memory of the context
  Misaligned,      ///< an access at an address that is not a multiple of its size
  Assertion,       ///< device assert()
  Trap,            ///< __trap(), an illegal instruction, a bad program counter, a stack overflow
  CooperativeSize, ///< a cooperative grid that cannot be resident at once
  LaunchTimeout,   ///< the driver's own watchdog (a display is attached) ended the kernel
  OutOfMemory,
  BadModule,  ///< not code for this device
  DeviceLost, ///< reset-class: the device, not the candidate, is at fault
  Other,
};
std::string_view to_string(GpuFailure failure); ///< "illegal address", ...

/// Thrown by every call of GpuDriver that fails.
class GpuError : public Error {
public:
  /// `call`: "cuLaunchKernelEx"; `code`: "CUDA_ERROR_INVALID_VALUE". `sticky`: the context answers
  /// nothing else from now on, so the process must end.
  GpuError(std::string call, std::string code, std::string explanation, GpuFailure failure,
           bool sticky);
  GpuFailure failure() const { return failure_; }
  bool sticky() const { return sticky_; }

private:
  GpuFailure failure_;
  bool sticky_;
};

using GpuAddress = std::uint64_t;
/// Handles are the driver's own; 0 is none.
using GpuModule = std::uintptr_t;
using GpuKernel = std::uintptr_t;
using GpuGraph = std::uintptr_t;

/// What the compiler and the driver know of a loaded kernel.
struct GpuKernelFacts {
  int registers = 0;           ///< per thread
  int static_shared_bytes = 0; ///< per block
  int local_bytes = 0;         ///< per thread: stack and spills
  int max_threads = 0;         ///< per block, for this kernel
};

struct GpuLaunch {
  GpuKernel kernel = 0;
  std::array<unsigned, 3> grid{1, 1, 1};
  std::array<unsigned, 3> block{1, 1, 1};
  std::array<unsigned, 3> cluster{1, 1, 1}; ///< {1, 1, 1}: none
  unsigned shared_bytes = 0;                ///< dynamic; over 48 KB just works
  bool cooperative = false;
  std::vector<void*> arguments; ///< one pointer to each parameter's bytes; read before it returns
};

/// The bytes of a CUtensorMap, passed to a kernel by value. 64-byte aligned.
struct alignas(64) TensorMapBytes {
  std::array<std::byte, 128> bytes{};
};

/// Host memory that kernels see, too: 64-bit words, 0 at first. Each side sees what the other
/// writes while kernels run.
struct MappedWords {
  std::uint64_t* host = nullptr; ///< nullptr: the driver has none
  GpuAddress device = 0;
};

/// The driver of one GPU, as little of it as Winnow uses: the CUDA driver API and the HIP runtime
/// sit behind it, loaded at run time. One context, one stream at a time: everything but the
/// synchronous copies is queued on it in order. One thread. Every call throws GpuError.
class GpuDriver {
public:
  virtual ~GpuDriver() = default;

  virtual std::string_view kind() const = 0; ///< "cuda", "hip"
  virtual std::string device_name() const = 0;
  virtual tasks::DeviceFacts facts() const = 0;
  /// As the vendor's monitoring library knows the GPU: "GPU-8f6b..."; empty: not known.
  virtual std::string uuid() const { return {}; }
  /// What the multiprocessors' clock can be at most; 0: not known.
  virtual double clock_mhz() const { return 0; }

  /// Not initialised; at least 256-byte aligned.
  virtual GpuAddress allocate(std::size_t bytes) = 0;
  virtual void release(GpuAddress address) = 0;
  /// Synchronous, after all queued work.
  virtual void upload(GpuAddress to, std::span<const std::byte> bytes) = 0;
  virtual void download(std::span<std::byte> to, GpuAddress from) = 0;
  /// Makes the host memory quick to copy to and from, if the driver can, instead of what it was
  /// given before; unpinned at the end.
  virtual void pin(std::span<std::byte> memory) = 0;
  /// Lives as long as the driver. Where that is not possible it returns {} and does not throw.
  virtual MappedWords map_words(std::size_t /*count*/) { return {}; }

  virtual GpuModule load_module(std::span<const std::byte> image) = 0;
  virtual void unload_module(GpuModule module) = 0;
  /// By the name in the image (mangled). Throws GpuError (BadModule) when there is none.
  virtual GpuKernel find_kernel(GpuModule module, const std::string& symbol) = 0;
  virtual GpuKernelFacts kernel_facts(GpuKernel kernel) = 0;
  /// Co-resident blocks per multiprocessor.
  virtual int resident_blocks(GpuKernel kernel, int block_threads, std::size_t shared_bytes) = 0;

  virtual void launch(const GpuLaunch& launch) = 0;
  /// `count` elements of `element_bytes` (1, 2 or 4), each the low bytes of `value`.
  virtual void fill(GpuAddress to, std::uint32_t value, int element_bytes, std::size_t count) = 0;
  /// `rows` rows of `row_bytes`, device to device; strides in bytes.
  virtual void copy(GpuAddress to, std::size_t to_stride, GpuAddress from, std::size_t from_stride,
                    std::size_t row_bytes, std::size_t rows) = 0;
  /// False while queued work runs; throws what that work did wrong.
  virtual bool idle() = 0;

  /// Records what `queue_work` queues, instead of running it, as a graph.
  virtual GpuGraph record(const std::function<void()>& queue_work) = 0;
  virtual void launch(GpuGraph graph) = 0;
  virtual void release_graph(GpuGraph graph) = 0;

  /// How many streams select_stream() can choose from; the first call makes them, as many as there
  /// is room for. Does not throw.
  virtual std::size_t stream_count() { return 1; }
  /// Queues what follows on the stream of this number, below stream_count(); 0 is selected first.
  /// Streams do not wait for each other: the one that is left must be idle(). Does not throw.
  virtual void select_stream(std::size_t /*number*/) {}
  /// The stream as the vendor's libraries take it (CUstream, hipStream_t); 0: there is none.
  virtual std::uintptr_t stream() const { return 0; }
  /// The context as the vendor's libraries take it (CUcontext); nullptr: there is none.
  virtual void* context() const { return nullptr; }

  /// Marks a point in the stream; `marker` is 0 or 1.
  virtual void mark(int marker) = 0;
  /// From mark 0 to mark 1, both reached. Resolution about 0.5 us.
  virtual std::chrono::nanoseconds between_marks() = 0;

  /// Lines that kernels have asked the L2 cache to keep become ordinary ones.
  virtual void reset_persisting_cache() {}

  /// `tensor`: address of the map's first element (its buffer's, plus offset_bytes). Throws
  /// GpuError (InvalidLaunch) when the driver refuses the map, or the device has none.
  virtual TensorMapBytes encode(const tasks::ResolvedTensorMap& map, GpuAddress tensor) = 0;
};

} // namespace winnow::evaluators
