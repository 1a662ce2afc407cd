#include "evaluators/device/hip/hip_driver.h"

#include "base/error.h"
#include "evaluators/device/hip/hip_functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using hip::Functions;

hip::Address pointer(GpuAddress address) {
  return reinterpret_cast<hip::Address>(address);
}

template <class Handle> Handle handle_of(std::uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}

template <class Handle> std::uintptr_t number_of(Handle handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

/// The stream and its two marks. The destructor ignores errors, because the process may be ending
/// after the runtime has failed.
class HipStreamOwner {
public:
  explicit HipStreamOwner(const Functions& functions) : hip_(functions) {}
  ~HipStreamOwner() {
    for (const hip::Event mark : marks_) {
      if (mark != nullptr) {
        static_cast<void>(hip_.hipEventDestroy(mark));
      }
    }
    if (stream_ != nullptr) {
      static_cast<void>(hip_.hipStreamDestroy(stream_));
    }
  }
  HipStreamOwner(const HipStreamOwner&) = delete; // owns the stream
  HipStreamOwner& operator=(const HipStreamOwner&) = delete;

  void create() {
    check(hip_, hip_.hipStreamCreateWithFlags(&stream_, hip::kStreamNonBlocking),
          "hipStreamCreateWithFlags");
    for (hip::Event& mark : marks_) {
      check(hip_, hip_.hipEventCreateWithFlags(&mark, 0), "hipEventCreateWithFlags");
    }
  }
  hip::Stream get() const { return stream_; }
  hip::Event mark(int index) const { return marks_.at(static_cast<std::size_t>(index)); }

private:
  const Functions& hip_;
  hip::Stream stream_ = nullptr;
  std::array<hip::Event, 2> marks_{};
};

class HipDriver final : public GpuDriver {
public:
  HipDriver(const Functions& functions, int ordinal) : hip_(functions), stream_(functions) {
    check(hip_.hipSetDevice(ordinal), "hipSetDevice");
    facts_ = facts_of(hip_, ordinal);
    version_ = version_text(hip_);
    stream_.create();
  }
  ~HipDriver() override {
    if (pinned_ != nullptr) {
      static_cast<void>(hip_.hipHostUnregister(pinned_));
    }
  }
  HipDriver(const HipDriver&) = delete; // owns the stream and the pinned memory
  HipDriver& operator=(const HipDriver&) = delete;

  tasks::DeviceFacts facts() const override { return facts_; }

  GpuAddress allocate(std::size_t bytes) override {
    hip::Address address = nullptr;
    check(hip_.hipMalloc(&address, std::max<std::size_t>(bytes, 1)), "hipMalloc");
    return number_of(address);
  }
  void release(GpuAddress address) override { check(hip_.hipFree(pointer(address)), "hipFree"); }
  void upload(GpuAddress to, std::span<const std::byte> bytes) override {
    if (!bytes.empty()) {
      // HIP's parameter is not const, but the runtime only reads.
      void* from = const_cast<std::byte*>(bytes.data());
      check(hip_.hipMemcpyHtoDAsync(pointer(to), from, bytes.size(), stream_.get()),
            "hipMemcpyHtoDAsync");
    }
    synchronize();
  }
  void download(std::span<std::byte> to, GpuAddress from) override {
    if (!to.empty()) {
      queue_download(to, from);
    }
    synchronize();
  }
  void queue_download(std::span<std::byte> to, GpuAddress from) override {
    check(hip_.hipMemcpyDtoHAsync(to.data(), pointer(from), to.size(), stream_.get()),
          "hipMemcpyDtoHAsync");
  }
  void pin(std::span<std::byte> memory) override {
    if (pinned_ != nullptr) {
      check(hip_.hipHostUnregister(std::exchange(pinned_, nullptr)), "hipHostUnregister");
    }
    if (hip_.hipHostRegister(memory.data(), memory.size(), 0) == hip::kSuccess) {
      pinned_ = memory.data();
    } else {
      static_cast<void>(hip_.hipGetLastError()); // otherwise a later call would report the error
    }
  }

  GpuModule load_module(std::span<const std::byte> image) override {
    hip::Module module = nullptr;
    check(hip_.hipModuleLoadData(&module, image.data()), "hipModuleLoadData");
    return number_of(module);
  }
  void unload_module(GpuModule module) override {
    check(hip_.hipModuleUnload(handle_of<hip::Module>(module)), "hipModuleUnload");
  }
  GpuKernel find_kernel(GpuModule module, const std::string& symbol) override {
    hip::Function function = nullptr;
    check(hip_.hipModuleGetFunction(&function, handle_of<hip::Module>(module), symbol.c_str()),
          "hipModuleGetFunction");
    return number_of(function);
  }
  GpuKernelFacts kernel_facts(GpuKernel kernel) override {
    GpuKernelFacts facts;
    facts.registers = kernel_attribute(kernel, hip::kNumRegs);
    facts.static_shared_bytes = kernel_attribute(kernel, hip::kSharedSizeBytes);
    facts.local_bytes = kernel_attribute(kernel, hip::kLocalSizeBytes);
    facts.max_threads = kernel_attribute(kernel, hip::kMaxThreadsPerBlock);
    return facts;
  }
  int resident_blocks(GpuKernel kernel, int block_threads, std::size_t shared_bytes) override {
    int blocks = 0;
    check(hip_.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
              &blocks, handle_of<hip::Function>(kernel), block_threads, shared_bytes),
          "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor");
    return blocks;
  }

  void launch(const GpuLaunch& launch) override {
    if (launch.cluster != std::array<unsigned, 3>{1, 1, 1}) {
      refuse("hipModuleLaunchKernel", "AMD GPUs have no thread block clusters");
    }
    // The test double finds the end of the list by this null. The runtime reads only as many
    // arguments as the kernel has parameters.
    std::vector<void*> arguments = launch.arguments;
    arguments.push_back(nullptr);
    if (launch.cooperative) {
      launch_cooperative(launch, arguments.data());
    } else {
      const auto& [gx, gy, gz] = launch.grid;
      const auto& [bx, by, bz] = launch.block;
      check(hip_.hipModuleLaunchKernel(handle_of<hip::Function>(launch.kernel), gx, gy, gz, bx, by,
                                       bz, launch.shared_bytes, stream_.get(), arguments.data(),
                                       nullptr),
            "hipModuleLaunchKernel");
    }
  }
  void fill(GpuAddress to, std::uint32_t value, int element_bytes, std::size_t count) override {
    if (count == 0) {
      return;
    }
    if (element_bytes == 1) {
      check(hip_.hipMemsetD8Async(pointer(to), static_cast<unsigned char>(value), count,
                                  stream_.get()),
            "hipMemsetD8Async");
    } else if (element_bytes == 2) {
      check(hip_.hipMemsetD16Async(pointer(to), static_cast<unsigned short>(value), count,
                                   stream_.get()),
            "hipMemsetD16Async");
    } else {
      check(hip_.hipMemsetD32Async(pointer(to), static_cast<int>(value), count, stream_.get()),
            "hipMemsetD32Async");
    }
  }
  void copy(GpuAddress to, std::size_t to_stride, GpuAddress from, std::size_t from_stride,
            std::size_t row_bytes, std::size_t rows) override {
    if (rows == 0 || row_bytes == 0) {
      return;
    }
    if (rows == 1) {
      check(hip_.hipMemcpyDtoDAsync(pointer(to), pointer(from), row_bytes, stream_.get()),
            "hipMemcpyDtoDAsync");
      return;
    }
    check(hip_.hipMemcpy2DAsync(pointer(to), to_stride, pointer(from), from_stride, row_bytes, rows,
                                hip::kCopyDeviceToDevice, stream_.get()),
          "hipMemcpy2DAsync");
  }
  bool idle() override {
    const hip::Result result = hip_.hipStreamQuery(stream_.get());
    if (result == hip::kNotReady) {
      return false;
    }
    check(result, "hipStreamQuery");
    return true;
  }

  GpuGraph record(const std::function<void()>& queue_work) override {
    check(hip_.hipStreamBeginCapture(stream_.get(), hip::kCaptureThreadLocal),
          "hipStreamBeginCapture");
    hip::Graph graph = nullptr;
    try {
      queue_work();
    } catch (...) {
      // Ends the recording; otherwise the stream would record for ever.
      if (hip_.hipStreamEndCapture(stream_.get(), &graph) == hip::kSuccess && graph != nullptr) {
        static_cast<void>(hip_.hipGraphDestroy(graph));
      }
      static_cast<void>(hip_.hipGetLastError());
      throw;
    }
    check(hip_.hipStreamEndCapture(stream_.get(), &graph), "hipStreamEndCapture");
    hip::GraphInstance instance = nullptr;
    const hip::Result result = hip_.hipGraphInstantiateWithFlags(&instance, graph, 0);
    static_cast<void>(hip_.hipGraphDestroy(graph)); // the instance does not need the graph any more
    check(result, "hipGraphInstantiateWithFlags");
    return number_of(instance);
  }
  void launch(GpuGraph graph) override {
    check(hip_.hipGraphLaunch(handle_of<hip::GraphInstance>(graph), stream_.get()),
          "hipGraphLaunch");
  }
  void release_graph(GpuGraph graph) override {
    check(hip_.hipGraphExecDestroy(handle_of<hip::GraphInstance>(graph)), "hipGraphExecDestroy");
  }

  void mark(int marker) override {
    check(hip_.hipEventRecord(stream_.mark(marker), stream_.get()), "hipEventRecord");
  }
  std::chrono::nanoseconds between_marks() override {
    check(hip_.hipEventSynchronize(stream_.mark(1)), "hipEventSynchronize");
    float milliseconds = 0;
    check(hip_.hipEventElapsedTime(&milliseconds, stream_.mark(0), stream_.mark(1)),
          "hipEventElapsedTime");
    return std::chrono::nanoseconds(std::llround(static_cast<double>(milliseconds) * 1e6));
  }

  TensorMapBytes encode(const tasks::ResolvedTensorMap& /*map*/, GpuAddress /*tensor*/) override {
    refuse("tensor map", "AMD GPUs have no tensor maps (TMA)");
  }

private:
  void check(hip::Result result, const char* call) const { hip::check(hip_, result, call); }

  [[noreturn]] void refuse(const char* call, const std::string& why) const {
    throw GpuError(call, "unsupported", why, GpuFailure::InvalidLaunch, false);
  }

  void synchronize() { check(hip_.hipStreamSynchronize(stream_.get()), "hipStreamSynchronize"); }

  int kernel_attribute(GpuKernel kernel, int attribute) const {
    int value = 0;
    check(hip_.hipFuncGetAttribute(&value, attribute, handle_of<hip::Function>(kernel)),
          "hipFuncGetAttribute");
    return value;
  }

  void launch_cooperative(const GpuLaunch& launch, void** arguments) {
    if (hip_.hipModuleLaunchCooperativeKernel == nullptr) {
      refuse("hipModuleLaunchCooperativeKernel",
             version_ + " cannot launch cooperative grids: it lacks this function");
    }
    const auto& [gx, gy, gz] = launch.grid;
    const auto& [bx, by, bz] = launch.block;
    check(hip_.hipModuleLaunchCooperativeKernel(handle_of<hip::Function>(launch.kernel), gx, gy, gz,
                                                bx, by, bz, launch.shared_bytes, stream_.get(),
                                                arguments),
          "hipModuleLaunchCooperativeKernel");
  }

  const Functions& hip_;
  std::string version_;
  tasks::DeviceFacts facts_;
  HipStreamOwner stream_;
  void* pinned_ = nullptr;
};

// Without an AMD GPU, some runtimes fail to initialise and others report zero devices.
int device_count(const Functions& hip) {
  const hip::Result initialised = hip.hipInit(0);
  if (initialised == hip::kNoDevice || initialised == hip::kInvalidDevice) {
    return 0;
  }
  hip::check(hip, initialised, "hipInit");
  int count = 0;
  const hip::Result counted = hip.hipGetDeviceCount(&count);
  if (counted == hip::kNoDevice) {
    return 0;
  }
  hip::check(hip, counted, "hipGetDeviceCount");
  return count;
}

constexpr const char* kNoDeviceRemedy = "see that the amdgpu kernel driver is loaded and that you "
                                        "may use /dev/kfd and /dev/dri (groups "
                                        "render and video)";

DeviceReport probe(const Functions& hip, int ordinal) {
  DeviceReport found;
  found.kind = "hip";
  found.id = fmt::format("hip:{}", ordinal);
  try {
    found.driver = version_text(hip);
    found.name = name_of(hip, ordinal);
    found.uuid = uuid_of(hip, ordinal);
    found.facts = facts_of(hip, ordinal);
    found.availability = Availability::yes(
        fmt::format("{} ({}), {}", found.name, found.facts.architecture, found.driver));
  } catch (const GpuError& error) {
    found.availability = Availability::no(error.what(), kNoDeviceRemedy);
  }
  return found;
}

} // namespace

std::unique_ptr<GpuDriver> open_hip_driver(int ordinal) {
  const Functions& hip = hip::functions();
  try {
    const int count = device_count(hip);
    if (ordinal < 0 || ordinal >= count) {
      throw DeviceUnavailable(
          fmt::format("there is no device hip:{}: the runtime shows {}", ordinal, count),
          kNoDeviceRemedy);
    }
    return std::make_unique<HipDriver>(hip, ordinal);
  } catch (const GpuError& error) {
    throw DeviceUnavailable(fmt::format("device hip:{} cannot be used: {}", ordinal, error.what()),
                            kNoDeviceRemedy);
  }
}

std::vector<DeviceReport> probe_hip_devices() {
  try {
    const Functions& hip = hip::functions();
    const int count = device_count(hip);
    if (count == 0) {
      return {no_device("hip", "the HIP runtime shows no AMD GPU", kNoDeviceRemedy)};
    }
    std::vector<DeviceReport> found;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      found.push_back(probe(hip, ordinal));
    }
    return found;
  } catch (const GpuError& error) {
    return {no_device("hip", error.what(), kNoDeviceRemedy)};
  } catch (const DeviceUnavailable& error) {
    return {no_device("hip", error.what(), error.remedy())};
  }
}

} // namespace winnow::evaluators
