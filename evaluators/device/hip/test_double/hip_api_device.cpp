// Functions for the device and its memory.
#include "evaluators/device/hip/test_double/double_state.h"
#include "evaluators/device/hip/test_double/hip_api.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <iterator>

#define HIP_DOUBLE_ENTER()                                                                         \
  if (const int failure = state().enter(__func__); failure != kSuccess) {                          \
    return failure;                                                                                \
  }

namespace hip_double {
namespace {

constexpr int kDevices = 2;
constexpr std::size_t kMemoryBytes = std::size_t{64} << 30;

struct NamedResult {
  int result;
  const char* name;
};
constexpr NamedResult kNames[] = {
    {0, "hipSuccess"},
    {1, "hipErrorInvalidValue"},
    {2, "hipErrorOutOfMemory"},
    {3, "hipErrorNotInitialized"},
    {9, "hipErrorInvalidConfiguration"},
    {100, "hipErrorNoDevice"},
    {101, "hipErrorInvalidDevice"},
    {209, "hipErrorNoBinaryForGpu"},
    {400, "hipErrorInvalidHandle"},
    {500, "hipErrorNotFound"},
    {600, "hipErrorNotReady"},
    {700, "hipErrorIllegalAddress"},
    {719, "hipErrorLaunchFailure"},
    {720, "hipErrorCooperativeLaunchTooLarge"},
    {900, "hipErrorStreamCaptureUnsupported"},
    {901, "hipErrorStreamCaptureInvalidated"},
};

// Values by attribute number. The double does not know other attributes.
constexpr std::array<int, 2> kAttributes[] = {
    {10, 1},          // cooperative launch
    {19, 1 << 20},    // L2 bytes
    {28, 1024},       // block z
    {29, 2147483647}, // grid x
    {30, 65536},      // grid y
    {31, 65536},      // grid z
    {56, 1024},       // threads per block
    {57, 2048},       // threads per multiprocessor
    {59, 4096},       // bits of the memory bus
    {60, 1600000},    // memory clock, kHz
    {63, 104},        // multiprocessors
    {74, 65536},      // bytes of shared memory per block
    {87, 64},         // lanes per wave
};

int put_architecture(void* properties, std::size_t offset, int device) {
  if (properties == nullptr || device < 0 || device >= kDevices) {
    return kInvalidDevice;
  }
  std::strcpy(static_cast<char*>(properties) + offset, "gfx90a:sramecc+:xnack-");
  return kSuccess;
}

// Queues a fill of device memory with `count` copies of an element.
int fill(const char* call, void* to, const void* element, std::size_t element_bytes,
         std::size_t count, hip::Stream stream) {
  if (!state().check_range(call, to, element_bytes * count)) {
    return kInvalidValue;
  }
  std::vector<std::byte> value(element_bytes);
  std::memcpy(value.data(), element, element_bytes);
  return state().queue(stream, call, [=] {
    if (!state().check_range(call, to, value.size() * count)) {
      return kIllegalAddress;
    }
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(static_cast<std::byte*>(to) + i * value.size(), value.data(), value.size());
    }
    return kSuccess;
  });
}

struct Rows {
  std::byte* to;
  std::size_t to_pitch;
  const std::byte* from;
  std::size_t from_pitch;
  std::size_t bytes;
  std::size_t count;
  bool to_device;
  bool from_device;
};

bool in_range(const char* call, const Rows& rows) {
  const auto extent = [&](std::size_t pitch) { return pitch * (rows.count - 1) + rows.bytes; };
  return (!rows.to_device || state().check_range(call, rows.to, extent(rows.to_pitch))) &&
         (!rows.from_device || state().check_range(call, rows.from, extent(rows.from_pitch)));
}

int copy(const char* call, const Rows& rows, hip::Stream stream) {
  if (!in_range(call, rows)) {
    return kInvalidValue;
  }
  return state().queue(stream, call, [=] {
    if (!in_range(call, rows)) {
      return kIllegalAddress;
    }
    for (std::size_t i = 0; i < rows.count; ++i) {
      std::memmove(rows.to + i * rows.to_pitch, rows.from + i * rows.from_pitch, rows.bytes);
    }
    return kSuccess;
  });
}

Rows one_row(void* to, bool to_device, const void* from, bool from_device, std::size_t bytes) {
  return {static_cast<std::byte*>(to),
          bytes,
          static_cast<const std::byte*>(from),
          bytes,
          bytes,
          1,
          to_device,
          from_device};
}

} // namespace

extern "C" {

Result hipInit(unsigned flags) {
  HIP_DOUBLE_ENTER()
  state().initialised = true;
  return flags == 0 ? kSuccess : kInvalidValue;
}
Result hipGetDeviceCount(int* count) {
  HIP_DOUBLE_ENTER()
  *count = kDevices;
  return kSuccess;
}
Result hipSetDevice(int device) {
  HIP_DOUBLE_ENTER()
  return device >= 0 && device < kDevices ? kSuccess : kInvalidDevice;
}
Result hipDeviceGetAttribute(int* value, int attribute, int /*device*/) {
  HIP_DOUBLE_ENTER()
  const auto* found = std::find_if(std::begin(kAttributes), std::end(kAttributes),
                                   [&](const auto& known) { return known[0] == attribute; });
  if (found == std::end(kAttributes)) {
    return kInvalidValue;
  }
  *value = (*found)[1];
  return kSuccess;
}
Result hipDeviceGetName(char* name, int bytes, int device) {
  HIP_DOUBLE_ENTER()
  std::snprintf(name, static_cast<std::size_t>(bytes), "Double %d", device);
  return kSuccess;
}
Result hipDeviceGetPCIBusId(char* id, int bytes, int device) {
  HIP_DOUBLE_ENTER()
  std::snprintf(id, static_cast<std::size_t>(bytes), "0000:%02x:00.0", device);
  return kSuccess;
}
Result hipDeviceTotalMem(std::size_t* bytes, int /*device*/) {
  HIP_DOUBLE_ENTER()
  *bytes = kMemoryBytes;
  return kSuccess;
}
Result hipRuntimeGetVersion(int* version) {
  HIP_DOUBLE_ENTER()
  *version = 60'212'345; // 6.2
  return kSuccess;
}
Result hipGetDeviceProperties(void* properties, int device) {
  HIP_DOUBLE_ENTER()
  return put_architecture(properties, 396, device);
}
#ifndef HIP_DOUBLE_ROCM5
Result hipGetDevicePropertiesR0600(void* properties, int device) {
  HIP_DOUBLE_ENTER()
  return put_architecture(properties, 1160, device);
}
Result hipDeviceGetUuid(Uuid* uuid, int device) {
  HIP_DOUBLE_ENTER()
  std::memset(uuid->bytes, device == 0 ? '0' : 'f', sizeof uuid->bytes);
  return kSuccess;
}
#endif

Result hipGetLastError() {
  static_cast<void>(state().enter(__func__));
  return kSuccess;
}
const char* hipGetErrorName(Result result) {
  const auto* found =
      std::find_if(std::begin(kNames), std::end(kNames),
                   [&](const NamedResult& named) { return named.result == result; });
  return found == std::end(kNames) ? "hipErrorOfTheDouble" : found->name;
}
const char* hipGetErrorString(Result result) {
  return result == kSuccess ? "no error" : "told by the double";
}

Result hipMalloc(Address* address, std::size_t bytes) {
  HIP_DOUBLE_ENTER()
  if (const int refused = state().refuse_while_capturing(); refused != kSuccess) {
    return refused;
  }
  if (bytes > kMemoryBytes) {
    return 2; // hipErrorOutOfMemory
  }
  *address = state().memory.allocate(bytes);
  return kSuccess;
}
Result hipFree(Address address) {
  return state().enter_destroyer(__func__, [&] {
    if (state().memory.release(address)) {
      return kSuccess;
    }
    return state().problem(state().memory.was_released(address) ? "hipFree: released twice"
                                                                : "hipFree: no such allocation",
                           kInvalidValue);
  });
}
Result hipHostRegister(void* memory, std::size_t bytes, unsigned /*flags*/) {
  HIP_DOUBLE_ENTER()
  if (memory == nullptr || bytes == 0) {
    return kInvalidValue;
  }
  state().pinned[memory] = bytes;
  return kSuccess;
}
Result hipHostUnregister(void* memory) {
  return state().enter_destroyer(__func__, [&] {
    return state().pinned.erase(memory) == 1
               ? kSuccess
               : state().problem("hipHostUnregister: not registered", kHostMemoryNotRegistered);
  });
}

Result hipMemcpyHtoDAsync(Address to, void* from, std::size_t bytes, hip::Stream stream) {
  HIP_DOUBLE_ENTER()
  return copy(__func__, one_row(to, true, from, false, bytes), stream);
}
Result hipMemcpyDtoHAsync(void* to, Address from, std::size_t bytes, hip::Stream stream) {
  HIP_DOUBLE_ENTER()
  return copy(__func__, one_row(to, false, from, true, bytes), stream);
}
Result hipMemcpyDtoDAsync(Address to, Address from, std::size_t bytes, hip::Stream stream) {
  HIP_DOUBLE_ENTER()
  return copy(__func__, one_row(to, true, from, true, bytes), stream);
}
Result hipMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                        std::size_t width, std::size_t height, int kind, hip::Stream stream) {
  HIP_DOUBLE_ENTER()
  if (kind != kCopyDeviceToDevice || to_pitch < width || from_pitch < width || height == 0) {
    return kInvalidValue;
  }
  return copy(__func__,
              {static_cast<std::byte*>(to), to_pitch, static_cast<const std::byte*>(from),
               from_pitch, width, height, true, true},
              stream);
}
Result hipMemsetD8Async(Address to, unsigned char value, std::size_t count, hip::Stream stream) {
  HIP_DOUBLE_ENTER()
  return fill(__func__, to, &value, sizeof value, count, stream);
}
Result hipMemsetD16Async(Address to, unsigned short value, std::size_t count, hip::Stream stream) {
  HIP_DOUBLE_ENTER()
  return fill(__func__, to, &value, sizeof value, count, stream);
}
Result hipMemsetD32Async(Address to, int value, std::size_t count, hip::Stream stream) {
  HIP_DOUBLE_ENTER()
  return fill(__func__, to, &value, sizeof value, count, stream);
}
}

} // namespace hip_double
