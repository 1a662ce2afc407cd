#include "evaluators/device/hip/testing/hip_fake.h"

#include "evaluators/device/hip/hip_functions.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <string>

// In this namespace for the driver's names of the runtime's types; extern "C" gives the functions
// the runtime's names.

namespace winnow::evaluators::hip {
namespace {

constexpr int kDevices = 2;

struct State {
  std::string calls;
  std::map<std::string, Result> failures;
  std::set<const void*> alive;
  std::uintptr_t last_handle = 0;
};

State& state() {
  static State held;
  return held;
}

template <class... Arguments> Result called(const std::string& call, Arguments... arguments) {
  std::ostringstream line;
  line << call;
  ((line << ' ' << arguments), ...);
  state().calls += line.str() + "\n";
  const auto failure = state().failures.find(call);
  if (failure == state().failures.end()) {
    return kSuccess;
  }
  const Result result = failure->second;
  state().failures.erase(failure);
  return result;
}

template <class Value> Result answer(const char* call, Value* out, Value value) {
  *out = value;
  return called(call);
}

template <class Handle, class... Arguments>
Result create(const char* call, Handle* handle, Arguments... arguments) {
  const Result result = called(call, arguments...);
  if (result == kSuccess) {
    *handle = reinterpret_cast<Handle>(++state().last_handle);
    state().alive.insert(*handle);
  }
  return result;
}

Result destroy(const char* call, const void* handle) {
  state().alive.erase(handle);
  return called(call, handle);
}

// By number; the runtime does not know the others.
Result attribute(int number, int* value) {
  static const std::map<int, int> kAttributes{
      {10, 1},          // cooperative launch
      {19, 1 << 20},    // L2 bytes
      {28, 1024},       // block z
      {29, 2147483647}, // grid x
      {30, 65536},      // grid y
      {31, 65536},      // grid z
      {56, 1024},       // threads a block
      {57, 2048},       // threads a multiprocessor
      {59, 4096},       // bits of the memory bus
      {60, 1600000},    // memory clock, kHz
      {63, 104},        // multiprocessors
      {74, 65536},      // shared bytes a block
      {87, 64},         // lanes of a wave
  };
  const auto found = kAttributes.find(number);
  if (found == kAttributes.end()) {
    return 1; // hipErrorInvalidValue
  }
  *value = found->second;
  return kSuccess;
}

Result put_architecture(const char* call, void* properties, std::size_t offset, int device) {
  std::strcpy(static_cast<char*>(properties) + offset, "gfx90a:sramecc+:xnack-");
  return called(call, device);
}

} // namespace

extern "C" {

// ---- The device ----
Result hipInit(unsigned flags) {
  return called(__func__, flags);
}
Result hipGetDeviceCount(int* count) {
  return answer(__func__, count, kDevices);
}
Result hipSetDevice(int device) {
  return called(__func__, device);
}
Result hipRuntimeGetVersion(int* version) {
  return answer(__func__, version, 60'212'345); // 6.2
}
Result hipDeviceGetAttribute(int* value, int number, int device) {
  const Result known = attribute(number, value);
  const Result result = called(__func__, number, device);
  return result == kSuccess ? known : result;
}
Result hipDeviceGetName(char* name, int bytes, int device) {
  std::snprintf(name, static_cast<std::size_t>(bytes), "Double %d", device);
  return called(__func__, device);
}
Result hipDeviceTotalMem(std::size_t* bytes, int /*device*/) {
  return answer(__func__, bytes, std::size_t{64} << 30);
}
Result hipGetDeviceProperties(void* properties, int device) {
  return put_architecture(__func__, properties, 396, device);
}
#ifndef HIP_DOUBLE_ROCM5
Result hipGetDevicePropertiesR0600(void* properties, int device) {
  return put_architecture(__func__, properties, 1160, device);
}
Result hipDeviceGetUuid(Uuid* uuid, int device) {
  std::memset(uuid->bytes, device == 0 ? '0' : 'f', sizeof uuid->bytes);
  return called(__func__, device);
}
#endif
Result hipGetLastError() {
  static_cast<void>(called(__func__));
  return kSuccess;
}
const char* hipGetErrorName(Result result) {
  return result == 2     ? "hipErrorOutOfMemory"
         : result == 700 ? "hipErrorIllegalAddress"
                         : "hipErrorOfTheDouble";
}
const char* hipGetErrorString(Result /*result*/) {
  return "told by the double";
}

// ---- Memory ----
Result hipMalloc(Address* address, std::size_t bytes) {
  return create(__func__, address, bytes);
}
Result hipFree(Address address) {
  return destroy(__func__, address);
}
Result hipHostRegister(void* memory, std::size_t bytes, unsigned flags) {
  const Result result = called(__func__, memory, bytes, flags);
  if (result == kSuccess) {
    state().alive.insert(memory);
  }
  return result;
}
Result hipHostUnregister(void* memory) {
  return destroy(__func__, memory);
}
Result hipMemcpyHtoDAsync(Address to, void* from, std::size_t bytes, Stream stream) {
  return called(__func__, to, from, bytes, stream);
}
Result hipMemcpyDtoHAsync(void* to, Address from, std::size_t bytes, Stream stream) {
  return called(__func__, to, from, bytes, stream);
}
Result hipMemcpyDtoDAsync(Address to, Address from, std::size_t bytes, Stream stream) {
  return called(__func__, to, from, bytes, stream);
}
Result hipMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                        std::size_t width, std::size_t height, int kind, Stream stream) {
  return called(__func__, to, to_pitch, from, from_pitch, width, height, kind, stream);
}
Result hipMemsetD8Async(Address to, unsigned char value, std::size_t count, Stream stream) {
  return called(__func__, to, static_cast<int>(value), count, stream);
}
Result hipMemsetD16Async(Address to, unsigned short value, std::size_t count, Stream stream) {
  return called(__func__, to, value, count, stream);
}
Result hipMemsetD32Async(Address to, int value, std::size_t count, Stream stream) {
  return called(__func__, to, value, count, stream);
}

// ---- Kernels ----
Result hipModuleLoadData(Module* module, const void* image) {
  return create(__func__, module, image);
}
Result hipModuleUnload(Module module) {
  return destroy(__func__, module);
}
Result hipModuleGetFunction(Function* function, Module module, const char* name) {
  *function = reinterpret_cast<Function>(++state().last_handle);
  return called(__func__, module, name);
}
Result hipFuncGetAttribute(int* value, int number, Function /*function*/) {
  return answer(__func__, value, 100 + number);
}
Result hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function function,
                                                          int block_size,
                                                          std::size_t shared_bytes) {
  *blocks = 8;
  return called(__func__, function, block_size, shared_bytes);
}
Result hipModuleLaunchKernel(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                             unsigned block_x, unsigned block_y, unsigned block_z,
                             unsigned shared_bytes, Stream stream, void** arguments, void** extra) {
  return called(__func__, function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                stream, arguments[0], extra);
}
#ifndef HIP_DOUBLE_ROCM5
Result hipModuleLaunchCooperativeKernel(Function function, unsigned grid_x, unsigned grid_y,
                                        unsigned grid_z, unsigned block_x, unsigned block_y,
                                        unsigned block_z, unsigned shared_bytes, Stream stream,
                                        void** arguments) {
  return called(__func__, function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                stream, arguments[0]);
}
#endif

// ---- Streams, events and graphs ----
Result hipStreamCreateWithFlags(Stream* stream, unsigned flags) {
  return create(__func__, stream, flags);
}
Result hipStreamDestroy(Stream stream) {
  return destroy(__func__, stream);
}
Result hipStreamQuery(Stream stream) {
  return called(__func__, stream);
}
Result hipStreamSynchronize(Stream stream) {
  return called(__func__, stream);
}
Result hipStreamBeginCapture(Stream stream, int mode) {
  return called(__func__, stream, mode);
}
Result hipStreamEndCapture(Stream stream, Graph* graph) {
  return create(__func__, graph, stream);
}
Result hipGraphInstantiateWithFlags(GraphInstance* instance, Graph graph,
                                    unsigned long long flags) {
  return create(__func__, instance, graph, flags);
}
Result hipGraphLaunch(GraphInstance instance, Stream stream) {
  return called(__func__, instance, stream);
}
Result hipGraphDestroy(Graph graph) {
  return destroy(__func__, graph);
}
Result hipGraphExecDestroy(GraphInstance instance) {
  return destroy(__func__, instance);
}
Result hipEventCreateWithFlags(Event* event, unsigned flags) {
  return create(__func__, event, flags);
}
Result hipEventDestroy(Event event) {
  return destroy(__func__, event);
}
Result hipEventRecord(Event event, Stream stream) {
  return called(__func__, event, stream);
}
Result hipEventSynchronize(Event event) {
  return called(__func__, event);
}
Result hipEventElapsedTime(float* milliseconds, Event start, Event stop) {
  *milliseconds = 0.003F;
  return called(__func__, start, stop);
}
}

} // namespace winnow::evaluators::hip

void hip_double_reset() {
  winnow::evaluators::hip::state() = {};
}
void hip_double_fail(const char* call, int result) {
  winnow::evaluators::hip::state().failures[call] = result;
}
const char* hip_double_calls() {
  return winnow::evaluators::hip::state().calls.c_str();
}
std::size_t hip_double_alive() {
  return winnow::evaluators::hip::state().alive.size();
}
