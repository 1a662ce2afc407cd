#pragma once

#include "evaluators/device/cpu/cpu_device.h"
#include "evaluators/device/device.h"
#include "evaluators/device/gpu/gpu_driver.h"
#include "process/sandbox.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// Which device a `_run` or `_judge` child works on; travels as its leading arguments.
struct WorkerDevice {
  std::string device = "cpu";                 ///< "cpu", "cuda:0", "hip:1"
  std::filesystem::path helpers;              ///< GPUs: module of the helper kernels
  std::filesystem::path library;              ///< GPUs: the driver's; empty: the system's
  std::chrono::milliseconds deadline{10'000}; ///< standing workers: of one run of a plan
  bool standing = false; ///< opens the device at once, says so, and serves many requests

  bool is_gpu() const { return device != "cpu"; }
};

/// The variable of the environment that names another driver library for this kind of device:
/// "WINNOW_CUDA_LIBRARY". nullptr: it has none.
const char* driver_library_variable(std::string_view kind);
/// The absolute path of what it names; empty: nothing.
std::filesystem::path named_driver_library(std::string_view kind);

std::vector<std::string> arguments_of(const WorkerDevice& device);
/// Consumes them. Throws Error for what it does not understand.
WorkerDevice take_device_arguments(std::vector<std::string>& arguments);

/// What a child that works on the device may see: compiled modules and, for a GPU, its device files
/// and driver library.
process::SandboxPolicy sandbox_policy(const WorkerDevice& device,
                                      const std::filesystem::path& modules);

/// Of a child that holds a context and serves requests one by one.
process::Limits standing_limits();

/// "cuda:1" is {"cuda", 1}; "cuda" alone is the first.
struct DeviceName {
  std::string kind;
  int ordinal = 0;
};
/// Throws UsageError when `text` is none.
DeviceName parse_device_name(const std::string& text);

/// Makes a context on a GPU. Throws DeviceUnavailable.
std::unique_ptr<GpuDriver> open_worker_driver(const WorkerDevice& device);

/// `cpu`: all of it is for the cpu, on_fatal for a GPU, too; `arena`: see GpuDeviceOptions. Throws
/// DeviceUnavailable.
std::unique_ptr<Device> make_worker_device(const WorkerDevice& device, CpuDeviceOptions cpu,
                                           std::span<std::byte> arena);

} // namespace winnow::evaluators
