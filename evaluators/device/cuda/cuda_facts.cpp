#include "evaluators/device/cuda/cuda_functions.h"
#include "profiling/power/gpu_monitor.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace winnow::evaluators::cuda {
namespace {

// Several processes share the device's memory: the candidates' worker, the spare worker and the
// judge.
constexpr std::int64_t kMemoryShare = 4;
// CUDA C++ Programming Guide, "Thread Block Clusters".
constexpr std::int64_t kPortableClusterBlocks = 8;

class Attributes {
public:
  Attributes(const Functions& cuda, CUdevice device) : cuda_(cuda), device_(device) {}

  std::int64_t operator()(CUdevice_attribute attribute) const {
    int value = 0;
    check(cuda_.cuDeviceGetAttribute(&value, attribute, device_), "cuDeviceGetAttribute");
    return value;
  }

private:
  const Functions& cuda_;
  CUdevice device_;
};

// From 9.0 on, the suffix "a" enables features of that architecture only (wgmma, setmaxnreg).
std::string architecture(const Attributes& attribute) {
  const std::int64_t major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  const std::int64_t minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  return fmt::format("sm_{}{}{}", major, minor, major >= 9 ? "a" : "");
}

double peak_bytes_per_second(const Attributes& attribute) {
  constexpr double kTransfersPerClock = 2; // on both clock edges
  const auto kilohertz = static_cast<double>(attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE));
  const auto bits = static_cast<double>(attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH));
  return kTransfersPerClock * kilohertz * 1000 * bits / 8;
}

void add_launch_limits(const Attributes& attribute, tasks::DeviceFacts& facts) {
  facts.max_threads_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  facts.max_grid_x = attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
  facts.max_grid_y = attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
  facts.max_grid_z = attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
  facts.max_block_z = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
  facts.max_shared_bytes = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  facts.max_static_shared_bytes = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  facts.cooperative = attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) != 0;
  facts.max_cluster_blocks =
      attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) != 0 ? kPortableClusterBlocks : 0;
  facts.tensor_maps = attribute(CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED) != 0;
}

void add_multiprocessor(const Attributes& attribute, tasks::DeviceFacts& facts) {
  facts.sm_count = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  facts.warp_size = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  facts.max_threads_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  facts.max_blocks_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  facts.registers_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  facts.registers_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  facts.shared_bytes_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  facts.reserved_shared_bytes = attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
}

} // namespace

tasks::DeviceFacts facts_of(const Functions& cuda, CUdevice device) {
  const Attributes attribute(cuda, device);
  tasks::DeviceFacts facts;
  facts.architecture = architecture(attribute);
  add_launch_limits(attribute, facts);
  add_multiprocessor(attribute, facts);
  std::size_t memory_bytes = 0;
  check(cuda.cuDeviceTotalMem(&memory_bytes, device), "cuDeviceTotalMem");
  facts.memory_bytes = static_cast<std::int64_t>(memory_bytes) / kMemoryShare;
  facts.l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  facts.peak_bytes_per_second = peak_bytes_per_second(attribute);
  facts.clock_mhz = clock_mhz_of(cuda, device);
  return facts;
}

std::string name_of(const Functions& cuda, CUdevice device) {
  std::array<char, 256> name{};
  check(cuda.cuDeviceGetName(name.data(), static_cast<int>(name.size()), device),
        "cuDeviceGetName");
  return name.data();
}

std::string uuid_of(const Functions& cuda, CUdevice device) {
  CUuuid uuid{};
  check(cuda.cuDeviceGetUuid(&uuid, device), "cuDeviceGetUuid");
  std::array<std::uint8_t, 16> bytes{};
  static_assert(sizeof(uuid.bytes) == sizeof(bytes));
  std::copy(std::begin(uuid.bytes), std::end(uuid.bytes), bytes.begin());
  return profiling::gpu_uuid_text(bytes);
}

double clock_mhz_of(const Functions& cuda, CUdevice device) {
  int kilohertz = 0;
  const bool known =
      cuda.cuDeviceGetAttribute(&kilohertz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device) == CUDA_SUCCESS;
  return known ? kilohertz / 1000.0 : 0;
}

} // namespace winnow::evaluators::cuda
