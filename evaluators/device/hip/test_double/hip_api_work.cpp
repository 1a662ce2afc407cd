// Functions for modules, launches, streams, graphs and events.
#include "evaluators/device/hip/test_double/double_state.h"
#include "evaluators/device/hip/test_double/hip_api.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#define HIP_DOUBLE_ENTER()                                                                         \
  if (const int failure = state().enter(__func__); failure != kSuccess) {                          \
    return failure;                                                                                \
  }

namespace hip_double {
namespace {

constexpr int kMaxThreads = 1024;
constexpr int kThreadsPerMultiprocessor = 2048;
constexpr std::size_t kMaxSharedBytes = 65536;
// Start of an image. The number of bytes that follow and a newline come next.
constexpr std::string_view kImageStart = "hip double ";
constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

template <class Handle, class Object>
Handle adopt(std::map<const void*, std::unique_ptr<Object>>& objects,
             std::unique_ptr<Object> object) {
  const auto handle = reinterpret_cast<Handle>(object.get());
  objects[object.get()] = std::move(object);
  return handle;
}

template <class Object>
int destroy(std::map<const void*, std::unique_ptr<Object>>& objects, const void* handle,
            const char* call) {
  return objects.erase(handle) == 1
             ? kSuccess
             : state().problem(std::string(call) + ": no such object", kInvalidHandle);
}

/// The name of the kernel behind a handle; null when its module was unloaded.
const std::string* kernel_name(hip::Function function) {
  for (const auto& [handle, module] : state().modules) {
    for (const auto& [name, held] : module->functions) {
      if (held.get() == reinterpret_cast<const std::string*>(function)) {
        return held.get();
      }
    }
  }
  return nullptr;
}

struct Launch {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
};

bool fits(const Launch& launch) {
  unsigned long long threads = 1;
  for (int i = 0; i < 3; ++i) {
    const unsigned long long in_grid =
        static_cast<unsigned long long>(launch.grid[i]) * launch.block[i];
    if (in_grid == 0 || in_grid > std::numeric_limits<unsigned>::max()) {
      return false;
    }
    threads *= launch.block[i];
  }
  return threads <= kMaxThreads && launch.shared_bytes <= kMaxSharedBytes;
}

using Values = std::vector<std::vector<std::byte>>;

// Copies the arguments, as the runtime does. The adapter ends the list with a null.
bool read_arguments(void** arguments, const Kernel& kernel, Values& values) {
  for (const std::size_t bytes : kernel.parameter_bytes) {
    const void* argument = arguments[values.size()];
    if (argument == nullptr) {
      return false;
    }
    values.emplace_back(bytes);
    std::memcpy(values.back().data(), argument, bytes);
  }
  return arguments[values.size()] == nullptr;
}

int run_kernel(const Kernel& kernel, Values& values, const Launch& launch) {
  if (const int fault = std::exchange(state().kernel_fault, kSuccess); fault != kSuccess) {
    return fault;
  }
  std::vector<void*> pointers;
  for (std::vector<std::byte>& value : values) {
    pointers.push_back(value.data());
  }
  kernel.run(kernel.context, pointers.data(), launch.grid, launch.block);
  return kSuccess;
}

int launch_kernel(const char* call, hip::Function function, const Launch& launch,
                  hip::Stream stream, void** arguments) {
  const std::string* name = kernel_name(function);
  if (name == nullptr) {
    return state().problem(std::string(call) + ": no such kernel", kInvalidHandle);
  }
  if (!fits(launch)) {
    return kInvalidConfiguration;
  }
  const Kernel kernel = state().kernels.at(*name);
  Values values;
  if (!read_arguments(arguments, kernel, values)) {
    return state().problem(std::string(call) + ": wrong number of arguments for " + *name,
                           kInvalidValue);
  }
  return state().queue(stream, call, [=]() mutable { return run_kernel(kernel, values, launch); });
}

int drain(hip::Stream handle, const char* call, std::size_t steps) {
  if (const int refused = state().refuse_while_capturing(); refused != kSuccess) {
    return refused;
  }
  FakeStream* stream = state().stream(handle, call);
  return stream == nullptr ? kInvalidHandle : state().run(*stream, steps);
}

FakeEvent* find_event(hip::Event handle, const char* call) {
  const auto found = state().events.find(handle);
  if (found == state().events.end()) {
    state().problem(std::string(call) + ": no such event", kInvalidHandle);
    return nullptr;
  }
  return found->second.get();
}

} // namespace

extern "C" {

Result hipModuleLoadData(hip::Module* module, const void* image) {
  HIP_DOUBLE_ENTER()
  if (const int refused = state().refuse_while_capturing(); refused != kSuccess) {
    return refused;
  }
  const char* text = static_cast<const char*>(image);
  if (text == nullptr || std::strncmp(text, kImageStart.data(), kImageStart.size()) != 0) {
    return kNoBinaryForGpu;
  }
  char* names = nullptr;
  const std::size_t bytes = std::strtoul(text + kImageStart.size(), &names, 10);
  ++names; // the newline
  auto loaded = std::make_unique<FakeModule>();
  for (const char* end = names + bytes; names < end;) {
    const std::string_view rest(names, static_cast<std::size_t>(end - names));
    const std::size_t length = std::min(rest.find('\n'), rest.size());
    loaded->kernels.emplace(rest.substr(0, length));
    names += length + 1;
  }
  *module = adopt<hip::Module>(state().modules, std::move(loaded));
  return kSuccess;
}
Result hipModuleUnload(hip::Module module) {
  return state().enter_destroyer(
      "hipModuleUnload", [&] { return destroy(state().modules, module, "hipModuleUnload"); });
}
Result hipModuleGetFunction(hip::Function* function, hip::Module module, const char* name) {
  HIP_DOUBLE_ENTER()
  const auto found = state().modules.find(module);
  if (found == state().modules.end()) {
    return state().problem("hipModuleGetFunction: no such module", kInvalidHandle);
  }
  if (found->second->kernels.count(name) == 0 || state().kernels.count(name) == 0) {
    return kNotFound;
  }
  auto& held = found->second->functions[name];
  if (held == nullptr) {
    held = std::make_unique<std::string>(name);
  }
  *function = reinterpret_cast<hip::Function>(held.get());
  return kSuccess;
}
Result hipFuncGetAttribute(int* value, int attribute, hip::Function function) {
  HIP_DOUBLE_ENTER()
  if (kernel_name(function) == nullptr) {
    return state().problem("hipFuncGetAttribute: no such kernel", kInvalidHandle);
  }
  *value = attribute == hip::kMaxThreadsPerBlock ? kMaxThreads
           : attribute == hip::kNumRegs          ? 32
           : attribute == hip::kSharedSizeBytes  ? 512
                                                 : 16;
  return kSuccess;
}
Result hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hip::Function function,
                                                          int block_size,
                                                          std::size_t shared_bytes) {
  HIP_DOUBLE_ENTER()
  if (kernel_name(function) == nullptr) {
    return state().problem("occupancy: no such kernel", kInvalidHandle);
  }
  if (block_size <= 0 || block_size > kMaxThreads || shared_bytes > kMaxSharedBytes) {
    return kInvalidValue;
  }
  *blocks = kThreadsPerMultiprocessor / block_size;
  return kSuccess;
}
Result hipModuleLaunchKernel(hip::Function function, unsigned grid_x, unsigned grid_y,
                             unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                             unsigned shared_bytes, hip::Stream stream, void** arguments,
                             void** /*extra*/) {
  HIP_DOUBLE_ENTER()
  return launch_kernel(__func__, function,
                       {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes},
                       stream, arguments);
}
#ifndef HIP_DOUBLE_ROCM5
Result hipModuleLaunchCooperativeKernel(hip::Function function, unsigned grid_x, unsigned grid_y,
                                        unsigned grid_z, unsigned block_x, unsigned block_y,
                                        unsigned block_z, unsigned shared_bytes, hip::Stream stream,
                                        void** arguments) {
  HIP_DOUBLE_ENTER()
  constexpr unsigned kResidentBlocks = 104 * 2;
  if (grid_x > kResidentBlocks) {
    return kCooperativeLaunchTooLarge;
  }
  return launch_kernel(__func__, function,
                       {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes},
                       stream, arguments);
}
#endif

Result hipStreamCreateWithFlags(hip::Stream* stream, unsigned /*flags*/) {
  HIP_DOUBLE_ENTER()
  *stream = adopt<hip::Stream>(state().streams, std::make_unique<FakeStream>());
  return kSuccess;
}
Result hipStreamDestroy(hip::Stream stream) {
  return state().enter_destroyer(
      "hipStreamDestroy", [&] { return destroy(state().streams, stream, "hipStreamDestroy"); });
}
Result hipStreamSynchronize(hip::Stream stream) {
  HIP_DOUBLE_ENTER()
  return drain(stream, __func__, kNoLimit);
}
Result hipStreamQuery(hip::Stream stream) {
  HIP_DOUBLE_ENTER()
  return drain(stream, __func__, 1);
}
Result hipStreamBeginCapture(hip::Stream handle, int /*mode*/) {
  HIP_DOUBLE_ENTER()
  FakeStream* stream = state().stream(handle, __func__);
  if (stream == nullptr || stream->capturing) {
    return kInvalidHandle;
  }
  stream->capturing = true;
  stream->capture_broken = false;
  stream->captured.clear();
  return kSuccess;
}
Result hipStreamEndCapture(hip::Stream handle, hip::Graph* graph) {
  const int failure = state().enter(__func__);
  FakeStream* stream = state().stream(handle, __func__);
  if (stream == nullptr || !stream->capturing) {
    return kInvalidHandle;
  }
  stream->capturing = false;
  *graph = nullptr;
  if (failure != kSuccess || stream->capture_broken) {
    return failure != kSuccess ? failure : kStreamCaptureInvalidated;
  }
  *graph = adopt<hip::Graph>(state().graphs, std::make_unique<FakeGraph>(stream->captured));
  return kSuccess;
}

Result hipGraphInstantiateWithFlags(hip::GraphInstance* instance, hip::Graph graph,
                                    unsigned long long /*flags*/) {
  HIP_DOUBLE_ENTER()
  const auto found = state().graphs.find(graph);
  if (found == state().graphs.end()) {
    return state().problem("hipGraphInstantiateWithFlags: no such graph", kInvalidHandle);
  }
  *instance =
      adopt<hip::GraphInstance>(state().instances, std::make_unique<FakeGraph>(*found->second));
  return kSuccess;
}
Result hipGraphDestroy(hip::Graph graph) {
  return state().enter_destroyer("hipGraphDestroy",
                                 [&] { return destroy(state().graphs, graph, "hipGraphDestroy"); });
}
Result hipGraphExecDestroy(hip::GraphInstance instance) {
  return state().enter_destroyer("hipGraphExecDestroy", [&] {
    return destroy(state().instances, instance, "hipGraphExecDestroy");
  });
}
Result hipGraphLaunch(hip::GraphInstance instance, hip::Stream stream) {
  HIP_DOUBLE_ENTER()
  const auto found = state().instances.find(instance);
  if (found == state().instances.end()) {
    return state().problem("hipGraphLaunch: no such graph", kInvalidHandle);
  }
  for (const Work& work : *found->second) {
    if (const int result = state().queue(stream, __func__, work); result != kSuccess) {
      return result;
    }
  }
  return kSuccess;
}

Result hipEventCreateWithFlags(hip::Event* event, unsigned /*flags*/) {
  HIP_DOUBLE_ENTER()
  *event = adopt<hip::Event>(state().events, std::make_unique<FakeEvent>());
  return kSuccess;
}
Result hipEventDestroy(hip::Event event) {
  return state().enter_destroyer("hipEventDestroy",
                                 [&] { return destroy(state().events, event, "hipEventDestroy"); });
}
Result hipEventRecord(hip::Event handle, hip::Stream stream) {
  HIP_DOUBLE_ENTER()
  FakeEvent* event = find_event(handle, __func__);
  if (event == nullptr) {
    return kInvalidHandle;
  }
  event->recorded = true;
  event->reached = false;
  return state().queue(stream, __func__, [event] {
    event->reached = true;
    event->time_us = state().clock_us;
    return kSuccess;
  });
}
Result hipEventSynchronize(hip::Event handle) {
  HIP_DOUBLE_ENTER()
  const FakeEvent* event = find_event(handle, __func__);
  if (event == nullptr) {
    return kInvalidHandle;
  }
  for (const auto& [key, stream] : state().streams) {
    while (event->recorded && !event->reached && !stream->queue.empty()) {
      const int result = state().run(*stream, 1);
      if (result != kSuccess && result != kNotReady) {
        return result;
      }
    }
  }
  return kSuccess;
}
Result hipEventElapsedTime(float* milliseconds, hip::Event start, hip::Event stop) {
  HIP_DOUBLE_ENTER()
  const FakeEvent* first = find_event(start, __func__);
  const FakeEvent* last = find_event(stop, __func__);
  if (first == nullptr || last == nullptr || !first->recorded || !last->recorded) {
    return kInvalidHandle;
  }
  if (!first->reached || !last->reached) {
    return kNotReady;
  }
  *milliseconds = static_cast<float>(last->time_us - first->time_us) / 1000.0F;
  return kSuccess;
}
}

} // namespace hip_double
