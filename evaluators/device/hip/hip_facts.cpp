// Reads the facts of a device from the HIP runtime.
#include "evaluators/device/hip/hip_functions.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

namespace winnow::evaluators::hip {
namespace {

// Values of hipDeviceAttribute_t, the same in ROCm 5.0 to 7.
enum Attribute : int {
  kCooperativeLaunch = 10,
  kL2CacheSize = 19,
  kMaxBlocksPerMultiProcessor = 25,
  kMaxBlockDimZ = 28,
  kMaxGridDimX = 29,
  kMaxGridDimY = 30,
  kMaxGridDimZ = 31,
  kMaxThreadsPerBlockOfDevice = 56,
  kMaxThreadsPerMultiProcessor = 57,
  kMemoryBusWidth = 59,
  kMemoryClockRate = 60,
  kMultiprocessorCount = 63,
  kMaxSharedMemoryPerBlock = 74,
  kWarpSize = 87,
};

int attribute(const Functions& hip, Attribute which, int device) {
  int value = 0;
  check(hip, hip.hipDeviceGetAttribute(&value, which, device), "hipDeviceGetAttribute");
  return value;
}

// Returns 0 if the runtime does not know the attribute.
int attribute_if_known(const Functions& hip, Attribute which, int device) {
  int value = 0;
  return hip.hipDeviceGetAttribute(&value, which, device) == kSuccess ? value : 0;
}

// Offsets of gcnArchName in hipDeviceProp_t. ROCm 6 enlarged the struct and gave the function a new
// symbol.
constexpr std::size_t kArchitectureOffsetR0600 = 1160;
constexpr std::size_t kArchitectureOffset = 396;
constexpr std::size_t kArchitectureBytes = 256;

// For the GPUs named here, the clock belongs to a double data rate bus. For other GPUs the product
// is wrong, and often too low. A peak that is too low would make honest timings look impossible.
double peak_bytes_per_second(const Functions& hip, int device, const std::string& architecture) {
  constexpr std::array<std::string_view, 4> kHighBandwidthMemory{"gfx900", "gfx906", "gfx908",
                                                                 "gfx90a"};
  if (std::find(kHighBandwidthMemory.begin(), kHighBandwidthMemory.end(), architecture) ==
      kHighBandwidthMemory.end()) {
    return 0;
  }
  const double transfers_per_second =
      2.0 * 1000.0 * attribute_if_known(hip, kMemoryClockRate, device);
  return transfers_per_second * attribute_if_known(hip, kMemoryBusWidth, device) / 8.0;
}

} // namespace

std::string version_text(const Functions& hip) {
  int version = 0;
  check(hip, hip.hipRuntimeGetVersion(&version), "hipRuntimeGetVersion");
  return fmt::format("HIP {}.{}", version / 10'000'000, version / 100'000 % 100);
}

std::string architecture_of(const Functions& hip, int device) {
  const bool grown = hip.hipGetDevicePropertiesR0600 != nullptr;
  const auto get_properties = grown ? hip.hipGetDevicePropertiesR0600 : hip.hipGetDeviceProperties;
  if (get_properties == nullptr) {
    throw GpuError("hipGetDeviceProperties", "missing", "the runtime has no such function",
                   GpuFailure::Other, false);
  }
  alignas(16) std::array<char, 16384> properties{}; // larger than any version's struct
  check(hip, get_properties(properties.data(), device), "hipGetDeviceProperties");
  std::string name(properties.data() + (grown ? kArchitectureOffsetR0600 : kArchitectureOffset),
                   kArchitectureBytes);
  name.resize(std::min(name.find('\0'), name.find(':'))); // gfx90a:sramecc+:xnack-
  if (!name.starts_with("gfx")) {
    throw GpuError("hipGetDeviceProperties", "no architecture",
                   "the runtime names no AMD architecture for this device", GpuFailure::Other,
                   false);
  }
  return name;
}

std::string name_of(const Functions& hip, int device) {
  std::array<char, 256> name{};
  check(hip, hip.hipDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device),
        "hipDeviceGetName");
  return name.data();
}

std::string uuid_of(const Functions& hip, int device) {
  Uuid uuid{};
  if (hip.hipDeviceGetUuid == nullptr || hip.hipDeviceGetUuid(&uuid, device) != kSuccess) {
    return {};
  }
  const std::string_view bytes(uuid.bytes, sizeof uuid.bytes);
  if (std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == '\0'; })) {
    return {};
  }
  // ROCm fills the UUID with hexadecimal digits.
  const bool text = std::all_of(bytes.begin(), bytes.end(), [](char c) {
    return std::isxdigit(static_cast<unsigned char>(c)) != 0;
  });
  std::string out = "GPU-";
  for (const char c : bytes) {
    out += text ? std::string(1, c) : fmt::format("{:02x}", static_cast<unsigned char>(c));
  }
  return out;
}

tasks::DeviceFacts facts_of(const Functions& hip, int device) {
  tasks::DeviceFacts facts;
  facts.architecture = architecture_of(hip, device);
  facts.sm_count = attribute(hip, kMultiprocessorCount, device);
  facts.warp_size = attribute(hip, kWarpSize, device);
  facts.max_threads_per_block = attribute(hip, kMaxThreadsPerBlockOfDevice, device);
  facts.max_shared_bytes = attribute(hip, kMaxSharedMemoryPerBlock, device);
  facts.max_static_shared_bytes = facts.max_shared_bytes;
  facts.shared_bytes_per_sm = facts.max_shared_bytes;
  facts.max_grid_x = attribute(hip, kMaxGridDimX, device);
  facts.max_grid_y = attribute(hip, kMaxGridDimY, device);
  facts.max_grid_z = attribute(hip, kMaxGridDimZ, device);
  facts.max_block_z = attribute(hip, kMaxBlockDimZ, device);
  facts.cooperative = hip.hipModuleLaunchCooperativeKernel != nullptr &&
                      attribute_if_known(hip, kCooperativeLaunch, device) != 0;
  facts.max_threads_per_sm = attribute_if_known(hip, kMaxThreadsPerMultiProcessor, device);
  facts.max_blocks_per_sm = attribute_if_known(hip, kMaxBlocksPerMultiProcessor, device);
  facts.l2_bytes = attribute_if_known(hip, kL2CacheSize, device);
  facts.peak_bytes_per_second = peak_bytes_per_second(hip, device, facts.architecture);
  std::size_t memory = 0;
  check(hip, hip.hipDeviceTotalMem(&memory, device), "hipDeviceTotalMem");
  facts.memory_bytes = static_cast<std::int64_t>(memory);
  return facts;
}

} // namespace winnow::evaluators::hip
