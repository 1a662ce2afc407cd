#pragma once

#include "evaluators/device/cpu/cpu_device.h"
#include "evaluators/device/device.h"
#include "evaluators/device/gpu/gpu_driver.h"
#include "process/sandbox.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// Which device a `_run` or `_judge` child works on. The child gets it as its first arguments.
struct WorkerDevice {
  std::string device = "cpu";                   ///< "cpu", "cuda:0", "hip:1"
  std::filesystem::path helpers;                ///< GPUs only: module of the helper kernels
  std::map<std::string, std::string> variables; ///< GPUs only: driver_variables()
  std::chrono::milliseconds deadline{10'000};   ///< standing workers only: for one run of a plan
  /// Opens the device at once, reports that it is ready, and serves many requests
  bool standing = false;

  bool is_gpu() const { return device != "cpu"; }
};

/// The variables of this process that children with a GPU need: those that name another driver
/// library (WINNOW_CUDA_LIBRARY, WINNOW_HIP_LIBRARY; as absolute paths, because children run in
/// "/"), and those that tell a driver which GPUs to show and in which order, for example
/// CUDA_VISIBLE_DEVICES. These decide which GPU is "cuda:0".
std::map<std::string, std::string> driver_variables();

std::vector<std::string> arguments_of(const WorkerDevice& device);
/// Reads the device arguments and removes them. Throws Error for an argument that it does not
/// understand.
WorkerDevice take_device_arguments(std::vector<std::string>& arguments);

/// The files that a child may see: compiled modules and, for a GPU, the device files and the driver
/// library.
process::SandboxPolicy sandbox_policy(const WorkerDevice& device,
                                      const std::filesystem::path& modules);

/// Limits of a child that keeps a context and serves one request after the other.
process::ProcessLimits standing_limits();

/// "cuda:1" is {"cuda", 1}. "cuda" alone is the first device of its kind.
struct DeviceName {
  std::string kind;
  int ordinal = 0;
};
/// Throws UsageError when `text` is not a device name.
DeviceName parse_device_name(const std::string& text);

/// Opens a context on a GPU. Throws DeviceUnavailable.
std::unique_ptr<GpuDriver> open_worker_driver(const WorkerDevice& device);

/// The CPU uses all of `cpu`; a GPU uses only cpu.on_fatal. `arena`: see GpuDeviceOptions. Throws
/// DeviceUnavailable.
std::unique_ptr<Device> make_worker_device(const WorkerDevice& device, CpuDeviceOptions cpu,
                                           std::span<std::byte> arena);

} // namespace winnow::evaluators
