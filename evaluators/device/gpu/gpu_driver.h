#pragma once

#include "base/error.h"
#include "tasks/plan/resolve/plan_resolve.h"

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

/// The kind of a failed driver call. It decides the verdict and whether the context survives.
enum class GpuFailure : std::uint8_t {
  InvalidLaunch,   ///< refused before any code ran: dimensions, resources, arguments
  IllegalAddress,  ///< an access outside of all memory of the context
  Misaligned,      ///< an access at an address that is not a multiple of its size
  Assertion,       ///< device assert()
  Trap,            ///< __trap(), an illegal instruction, a bad program counter, a stack overflow
  CooperativeSize, ///< a cooperative grid that cannot be resident at once
  LaunchTimeout,   ///< the driver's own watchdog ended the kernel (on GPUs with a display)
  OutOfMemory,
  BadModule,  ///< not code for this device
  DeviceLost, ///< the device, not the candidate, is at fault
  Other,
};

struct ErrorClass {
  GpuFailure failure = GpuFailure::Other;
  bool sticky = false; ///< the context is lost and every later call fails
};
/// The error codes of a driver that mean the same.
struct ErrorMeaning {
  ErrorClass what;
  std::vector<int> codes;
};
/// Other, not sticky, for a code that is not in the table.
ErrorClass classify(int code, std::span<const ErrorMeaning> meanings);

/// Thrown by every call of GpuDriver that fails.
class GpuError : public Error {
public:
  /// `call`: "cuLaunchKernelEx". `code`: "CUDA_ERROR_INVALID_VALUE". `sticky`: the context is lost
  /// and every later call fails, so the process must end.
  GpuError(std::string call, std::string code, std::string explanation, GpuFailure failure,
           bool sticky);
  GpuFailure failure() const { return failure_; }
  bool sticky() const { return sticky_; }

private:
  GpuFailure failure_;
  bool sticky_;
};

using GpuAddress = std::uint64_t;
/// The driver's own handles; 0 means none.
using GpuModule = std::uintptr_t;
using GpuKernel = std::uintptr_t;
using GpuGraph = std::uintptr_t;

/// Resources of a loaded kernel.
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
  unsigned shared_bytes = 0;                ///< dynamic; more than 48 KB needs no special call
  bool cooperative = false;
  /// One pointer per parameter, to the parameter's bytes. launch() copies the bytes before it
  /// returns.
  std::vector<void*> arguments;
};

/// The bytes of a CUtensorMap, passed to a kernel by value. 64-byte aligned.
struct alignas(64) TensorMapBytes {
  std::array<std::byte, 128> bytes{};
};

/// Host memory that kernels can access, too: 64-bit words, initially 0. Host and kernels see each
/// other's writes while kernels run.
struct MappedWords {
  std::uint64_t* host = nullptr; ///< nullptr: the driver has no mapped memory
  GpuAddress device = 0;
};

/// The functions of one GPU's driver that Winnow uses. The CUDA driver API and the HIP runtime
/// implement it; both are loaded at run time. A driver has one context and one selected stream. All
/// work except the synchronous copies is queued on that stream in order. For one thread. Every call
/// throws GpuError.
class GpuDriver {
public:
  virtual ~GpuDriver() = default;

  virtual tasks::DeviceFacts facts() const = 0;
  /// The GPU's name in the vendor's monitoring library: "GPU-8f6b..."; empty: not known.
  virtual std::string uuid() const { return {}; }
  /// The highest clock of the multiprocessors; 0: not known.
  virtual double clock_mhz() const { return 0; }

  /// Allocates uninitialised memory, aligned to at least 256 bytes.
  virtual GpuAddress allocate(std::size_t bytes) = 0;
  virtual void release(GpuAddress address) = 0;
  /// Copies synchronously, after all queued work.
  virtual void upload(GpuAddress to, std::span<const std::byte> bytes) = 0;
  virtual void download(std::span<std::byte> to, GpuAddress from) = 0;
  /// Queues a copy to the host. The bytes are there when the stream is idle().
  virtual void queue_download(std::span<std::byte> to, GpuAddress from) = 0;
  /// Pins the host memory, if the driver can, so that copies to and from it are fast. Unpins the
  /// memory of the previous call. The destructor unpins, too.
  virtual void pin(std::span<std::byte> memory) = 0;
  /// Memory that lives as long as the driver. Returns {} if the driver cannot map memory; does not
  /// throw.
  virtual MappedWords map_words(std::size_t /*count*/) { return {}; }

  virtual GpuModule load_module(std::span<const std::byte> image) = 0;
  virtual void unload_module(GpuModule module) = 0;
  /// Finds a kernel by its (mangled) name in the image. Throws GpuError (BadModule) when there is
  /// none.
  virtual GpuKernel find_kernel(GpuModule module, const std::string& symbol) = 0;
  virtual GpuKernelFacts kernel_facts(GpuKernel kernel) = 0;
  /// Number of blocks that a multiprocessor can hold at once.
  virtual int resident_blocks(GpuKernel kernel, int block_threads, std::size_t shared_bytes) = 0;

  virtual void launch(const GpuLaunch& launch) = 0;
  /// Writes `count` elements of `element_bytes` (1, 2 or 4) bytes, each the low bytes of `value`.
  virtual void fill(GpuAddress to, std::uint32_t value, int element_bytes, std::size_t count) = 0;
  /// Copies `rows` rows of `row_bytes` on the device. Strides are in bytes.
  virtual void copy(GpuAddress to, std::size_t to_stride, GpuAddress from, std::size_t from_stride,
                    std::size_t row_bytes, std::size_t rows) = 0;
  /// False while queued work runs. Throws the error of that work.
  virtual bool idle() = 0;

  /// Records the work that `queue_work` queues in a graph, without running it.
  virtual GpuGraph record(const std::function<void()>& queue_work) = 0;
  virtual void launch(GpuGraph graph) = 0;
  virtual void release_graph(GpuGraph graph) = 0;

  /// Number of streams for select_stream(). The first call creates them, as many as memory allows.
  /// Does not throw.
  virtual std::size_t stream_count() { return 1; }
  /// Queues all later work on this stream; `number` is less than stream_count(). Stream 0 is
  /// selected first. Streams do not wait for each other, so the previous stream must be idle().
  /// Does not throw.
  virtual void select_stream(std::size_t /*number*/) {}
  /// The stream handle for the vendor's libraries (CUstream, hipStream_t); 0: none.
  virtual std::uintptr_t stream() const { return 0; }
  /// The context handle for the vendor's libraries (CUcontext); nullptr: none.
  virtual void* context() const { return nullptr; }

  /// Marks a point in the stream; `marker` is 0 or 1.
  virtual void mark(int marker) = 0;
  /// The time from mark 0 to mark 1; the stream must have reached both. Resolution about 0.5 us.
  virtual std::chrono::nanoseconds between_marks() = 0;

  /// Releases the lines that kernels asked the L2 cache to keep.
  virtual void reset_persisting_cache() {}

  /// `tensor`: address of the map's first element, which is its buffer's address plus offset_bytes.
  /// Throws GpuError (InvalidLaunch) when the driver refuses the map or the device has no tensor
  /// maps.
  virtual TensorMapBytes encode(const tasks::ResolvedTensorMap& map, GpuAddress tensor) = 0;
};

} // namespace winnow::evaluators
