#include "evaluators/device/cuda/cuda_driver.h"

#include "evaluators/device/cuda/cuda_functions.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using cuda::check;
using cuda::Functions;

constexpr std::size_t kPrintfBytes = std::size_t{1} << 20U;
constexpr std::size_t kHeapBytes = std::size_t{8} << 20U;
// A stream takes 0.5 MB. Streams created together share the same timing offset in groups of about
// 15, so many streams are needed to average it out.
constexpr std::size_t kStreams = 256;

CUmodule to_module(GpuModule module) {
  return std::bit_cast<CUmodule>(module);
}
CUfunction to_function(GpuKernel kernel) {
  return std::bit_cast<CUfunction>(kernel);
}
CUgraphExec to_graph(GpuGraph graph) {
  return std::bit_cast<CUgraphExec>(graph);
}

class CudaDriver final : public GpuDriver {
public:
  explicit CudaDriver(int ordinal) {
    check(cuda_.cuDeviceGet(&device_, ordinal), "cuDeviceGet");
    facts_ = cuda::facts_of(cuda_, device_);
    check(cuda_.cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
    check(cuda_.cuCtxSetCurrent(context_), "cuCtxSetCurrent");
    set_limit(CU_LIMIT_PRINTF_FIFO_SIZE, kPrintfBytes);
    set_limit(CU_LIMIT_MALLOC_HEAP_SIZE, kHeapBytes);
    // Not supported before Ampere, where kernels cannot ask the cache to keep lines.
    static_cast<void>(cuda_.cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0));
    check(cuda_.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    streams_.push_back(stream_);
    for (CUevent& mark : marks_) {
      check(cuda_.cuEventCreate(&mark, CU_EVENT_DEFAULT), "cuEventCreate");
    }
  }
  // Ignores the results: after a fault every call fails, and the process is about to end.
  ~CudaDriver() override {
    if (pinned_ != nullptr) {
      cuda_.cuMemHostUnregister(pinned_);
    }
    for (void* words : mapped_) {
      cuda_.cuMemFreeHost(words);
    }
    for (CUevent mark : marks_) {
      cuda_.cuEventDestroy(mark);
    }
    for (CUstream stream : streams_) {
      cuda_.cuStreamDestroy(stream);
    }
    cuda_.cuCtxSetCurrent(nullptr);
    cuda_.cuDevicePrimaryCtxRelease(device_);
  }
  CudaDriver(const CudaDriver&) = delete; // owns a context
  CudaDriver& operator=(const CudaDriver&) = delete;

  tasks::DeviceFacts facts() const override { return facts_; }
  std::string uuid() const override { return cuda::uuid_of(cuda_, device_); }
  double clock_mhz() const override { return cuda::clock_mhz_of(cuda_, device_); }

  GpuAddress allocate(std::size_t bytes) override {
    CUdeviceptr address = 0;
    check(cuda_.cuMemAlloc(&address, bytes), "cuMemAlloc");
    return address;
  }
  void release(GpuAddress address) override { check(cuda_.cuMemFree(address), "cuMemFree"); }
  // Copies on the stream, because the plain calls would not wait for the stream.
  void upload(GpuAddress to, std::span<const std::byte> bytes) override {
    if (!bytes.empty()) {
      check(cuda_.cuMemcpyHtoDAsync(to, bytes.data(), bytes.size(), stream_), "cuMemcpyHtoDAsync");
      check(cuda_.cuStreamSynchronize(stream_), "cuStreamSynchronize");
    }
  }
  void download(std::span<std::byte> to, GpuAddress from) override {
    if (!to.empty()) {
      queue_download(to, from);
      check(cuda_.cuStreamSynchronize(stream_), "cuStreamSynchronize");
    }
  }
  void queue_download(std::span<std::byte> to, GpuAddress from) override {
    check(cuda_.cuMemcpyDtoHAsync(to.data(), from, to.size(), stream_), "cuMemcpyDtoHAsync");
  }
  void pin(std::span<std::byte> memory) override {
    if (pinned_ != nullptr) {
      check(cuda_.cuMemHostUnregister(std::exchange(pinned_, nullptr)), "cuMemHostUnregister");
    }
    // If locked memory is limited, copies are only slower.
    if (cuda_.cuMemHostRegister(memory.data(), memory.size(), 0) == CUDA_SUCCESS) {
      pinned_ = memory.data();
    }
  }
  MappedWords map_words(std::size_t count) override {
    void* host = nullptr;
    const std::size_t bytes = count * sizeof(std::uint64_t);
    if (cuda_.cuMemHostAlloc(&host, bytes, CU_MEMHOSTALLOC_DEVICEMAP) != CUDA_SUCCESS) {
      return {};
    }
    mapped_.push_back(host);
    CUdeviceptr device = 0;
    if (cuda_.cuMemHostGetDevicePointer(&device, host, 0) != CUDA_SUCCESS) {
      return {};
    }
    auto* words = static_cast<std::uint64_t*>(host);
    std::fill_n(words, count, 0);
    return {words, device};
  }

  GpuModule load_module(std::span<const std::byte> image) override {
    CUmodule module = nullptr;
    check(cuda_.cuModuleLoadData(&module, image.data()), "cuModuleLoadData");
    return reinterpret_cast<GpuModule>(module);
  }
  void unload_module(GpuModule module) override {
    allowed_shared_bytes_.clear(); // a later kernel may get the same handle
    check(cuda_.cuModuleUnload(to_module(module)), "cuModuleUnload");
  }
  GpuKernel find_kernel(GpuModule module, const std::string& symbol) override {
    CUfunction function = nullptr;
    check(cuda_.cuModuleGetFunction(&function, to_module(module), symbol.c_str()),
          "cuModuleGetFunction");
    return reinterpret_cast<GpuKernel>(function);
  }
  GpuKernelFacts kernel_facts(GpuKernel kernel) override {
    GpuKernelFacts facts;
    facts.registers = attribute(kernel, CU_FUNC_ATTRIBUTE_NUM_REGS);
    facts.static_shared_bytes = attribute(kernel, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    facts.local_bytes = attribute(kernel, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    facts.max_threads = attribute(kernel, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    return facts;
  }
  int resident_blocks(GpuKernel kernel, int block_threads, std::size_t shared_bytes) override {
    allow_shared_bytes(kernel, shared_bytes);
    int blocks = 0;
    check(cuda_.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, to_function(kernel),
                                                            block_threads, shared_bytes),
          "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    return blocks;
  }

  void launch(const GpuLaunch& launch) override {
    allow_shared_bytes(launch.kernel, launch.shared_bytes);
    CUlaunchAttribute attributes[2] = {};
    CUlaunchConfig config{};
    config.gridDimX = launch.grid[0];
    config.gridDimY = launch.grid[1];
    config.gridDimZ = launch.grid[2];
    config.blockDimX = launch.block[0];
    config.blockDimY = launch.block[1];
    config.blockDimZ = launch.block[2];
    config.sharedMemBytes = launch.shared_bytes;
    config.hStream = stream_;
    config.attrs = attributes;
    if (launch.cluster != std::array<unsigned, 3>{1, 1, 1}) {
      CUlaunchAttribute& attribute = attributes[config.numAttrs++];
      attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      attribute.value.clusterDim.x = launch.cluster[0];
      attribute.value.clusterDim.y = launch.cluster[1];
      attribute.value.clusterDim.z = launch.cluster[2];
    }
    if (launch.cooperative) {
      CUlaunchAttribute& attribute = attributes[config.numAttrs++];
      attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
      attribute.value.cooperative = 1;
    }
    std::vector<void*> arguments = launch.arguments; // the driver takes a pointer to mutable
    check(cuda_.cuLaunchKernelEx(&config, to_function(launch.kernel), arguments.data(), nullptr),
          "cuLaunchKernelEx");
  }
  void fill(GpuAddress to, std::uint32_t value, int element_bytes, std::size_t count) override {
    switch (element_bytes) {
    case 1:
      return check(cuda_.cuMemsetD8Async(to, static_cast<unsigned char>(value), count, stream_),
                   "cuMemsetD8Async");
    case 2:
      return check(cuda_.cuMemsetD16Async(to, static_cast<unsigned short>(value), count, stream_),
                   "cuMemsetD16Async");
    case 4:
      return check(cuda_.cuMemsetD32Async(to, value, count, stream_), "cuMemsetD32Async");
    default:
      throw Error(fmt::format("a fill of elements of {} bytes", element_bytes));
    }
  }
  void copy(GpuAddress to, std::size_t to_stride, GpuAddress from, std::size_t from_stride,
            std::size_t row_bytes, std::size_t rows) override {
    const bool packed = to_stride == row_bytes && from_stride == row_bytes;
    if (rows == 1 || packed) {
      return check(cuda_.cuMemcpyDtoDAsync(to, from, rows * row_bytes, stream_),
                   "cuMemcpyDtoDAsync");
    }
    copy_rows(to, to_stride, from, from_stride, row_bytes, rows);
  }
  bool idle() override {
    const CUresult result = cuda_.cuStreamQuery(stream_);
    if (result == CUDA_ERROR_NOT_READY) {
      return false;
    }
    check(result, "cuStreamQuery");
    // Prints the output of device printf.
    check(cuda_.cuStreamSynchronize(stream_), "cuStreamSynchronize");
    return true;
  }

  GpuGraph record(const std::function<void()>& queue_work) override {
    CUgraph graph = capture(queue_work);
    CUgraphExec executable = nullptr;
    const CUresult result = cuda_.cuGraphInstantiateWithFlags(&executable, graph, 0);
    cuda_.cuGraphDestroy(graph);
    check(result, "cuGraphInstantiateWithFlags");
    // Upload now; otherwise the first launch would include the upload.
    const CUresult uploaded = cuda_.cuGraphUpload(executable, stream_);
    if (uploaded != CUDA_SUCCESS) {
      cuda_.cuGraphExecDestroy(executable);
    }
    check(uploaded, "cuGraphUpload");
    return reinterpret_cast<GpuGraph>(executable);
  }
  void launch(GpuGraph graph) override {
    check(cuda_.cuGraphLaunch(to_graph(graph), stream_), "cuGraphLaunch");
  }
  void release_graph(GpuGraph graph) override {
    check(cuda_.cuGraphExecDestroy(to_graph(graph)), "cuGraphExecDestroy");
  }

  std::size_t stream_count() override {
    while (streams_.size() < most_streams_) {
      CUstream stream = nullptr;
      if (cuda_.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS) {
        streams_.push_back(stream);
      } else {
        most_streams_ = streams_.size();
      }
    }
    return streams_.size();
  }
  void select_stream(std::size_t number) override { stream_ = streams_.at(number); }
  std::uintptr_t stream() const override { return reinterpret_cast<std::uintptr_t>(stream_); }
  void* context() const override { return context_; }
  void mark(int marker) override {
    check(cuda_.cuEventRecord(marks_[marker], stream_), "cuEventRecord");
  }
  std::chrono::nanoseconds between_marks() override {
    float milliseconds = 0;
    check(cuda_.elapsed_time(&milliseconds, marks_[0], marks_[1]), "cuEventElapsedTime");
    constexpr double kNanosecondsPerMillisecond = 1e6;
    return std::chrono::nanoseconds(
        static_cast<std::int64_t>(static_cast<double>(milliseconds) * kNanosecondsPerMillisecond));
  }
  void reset_persisting_cache() override {
    check(cuda_.cuCtxResetPersistingL2Cache(), "cuCtxResetPersistingL2Cache");
  }
  TensorMapBytes encode(const tasks::ResolvedTensorMap& map, GpuAddress tensor) override {
    return cuda::encode(cuda_, map, tensor);
  }

private:
  // CUDA's runtime, which cuSPARSE uses, keeps the context when this driver has ended. Once a
  // kernel of a context has printed or allocated, the context refuses these limits, the present
  // ones included.
  void set_limit(CUlimit limit, std::size_t bytes) {
    std::size_t present = 0;
    check(cuda_.cuCtxGetLimit(&present, limit), "cuCtxGetLimit");
    if (present != bytes) {
      check(cuda_.cuCtxSetLimit(limit, bytes), "cuCtxSetLimit");
    }
  }
  int attribute(GpuKernel kernel, CUfunction_attribute which) {
    int value = 0;
    check(cuda_.cuFuncGetAttribute(&value, which, to_function(kernel)), "cuFuncGetAttribute");
    return value;
  }
  // Without this call, static and dynamic shared memory together are limited to 48 KB.
  void allow_shared_bytes(GpuKernel kernel, std::size_t bytes) {
    std::size_t& allowed = allowed_shared_bytes_[kernel];
    if (bytes > allowed) {
      check(cuda_.cuFuncSetAttribute(to_function(kernel),
                                     CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                     static_cast<int>(bytes)),
            "cuFuncSetAttribute");
      allowed = bytes;
    }
  }
  void copy_rows(GpuAddress to, std::size_t to_stride, GpuAddress from, std::size_t from_stride,
                 std::size_t row_bytes, std::size_t rows) {
    constexpr std::size_t kMaxPitch = 0x7fffffff; // CU_DEVICE_ATTRIBUTE_MAX_PITCH
    if (std::min(to_stride, from_stride) < row_bytes ||
        std::max(to_stride, from_stride) > kMaxPitch) {
      for (std::size_t row = 0; row < rows; ++row) {
        check(cuda_.cuMemcpyDtoDAsync(to + row * to_stride, from + row * from_stride, row_bytes,
                                      stream_),
              "cuMemcpyDtoDAsync");
      }
      return;
    }
    CUDA_MEMCPY2D region{};
    region.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    region.srcDevice = from;
    region.srcPitch = from_stride;
    region.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    region.dstDevice = to;
    region.dstPitch = to_stride;
    region.WidthInBytes = row_bytes;
    region.Height = rows;
    check(cuda_.cuMemcpy2DAsync(&region, stream_), "cuMemcpy2DAsync");
  }
  CUgraph capture(const std::function<void()>& queue_work) {
    check(cuda_.cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
          "cuStreamBeginCapture");
    CUgraph graph = nullptr;
    try {
      queue_work();
    } catch (...) { // ends the capture
      cuda_.cuStreamEndCapture(stream_, &graph);
      if (graph != nullptr) {
        cuda_.cuGraphDestroy(graph);
      }
      throw;
    }
    check(cuda_.cuStreamEndCapture(stream_, &graph), "cuStreamEndCapture");
    return graph;
  }

  const Functions& cuda_ = cuda::functions();
  CUdevice device_ = 0;
  tasks::DeviceFacts facts_;
  CUcontext context_ = nullptr;
  std::vector<CUstream> streams_;
  std::size_t most_streams_ = kStreams;
  CUstream stream_ = nullptr; ///< the selected stream
  CUevent marks_[2] = {nullptr, nullptr};
  std::map<GpuKernel, std::size_t> allowed_shared_bytes_;
  void* pinned_ = nullptr;
  std::vector<void*> mapped_;
};

} // namespace

std::unique_ptr<GpuDriver> open_cuda_driver(int ordinal) {
  try {
    const Functions& cuda = cuda::functions();
    int count = 0;
    check(cuda.cuDeviceGetCount(&count), "cuDeviceGetCount");
    if (ordinal < 0 || ordinal >= count) {
      throw DeviceUnavailable(
          fmt::format("there is no CUDA device {}: the driver shows {}", ordinal, count),
          "choose another ordinal; `winnow doctor` lists devices");
    }
    return std::make_unique<CudaDriver>(ordinal);
  } catch (const GpuError& error) {
    throw DeviceUnavailable(fmt::format("CUDA device {} cannot be used: {}", ordinal, error.what()),
                            "check `nvidia-smi`: another process may hold it exclusively or have "
                            "taken its memory");
  }
}

} // namespace winnow::evaluators
