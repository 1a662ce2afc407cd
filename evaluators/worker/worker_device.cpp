#include "evaluators/worker/worker_device.h"

#include "base/error.h"
#include "evaluators/device/cuda/cuda_driver.h"
#include "evaluators/device/cuda/cuda_library.h"
#include "evaluators/device/gpu/gpu_device.h"
#include "evaluators/device/hip/hip_driver.h"
#include "profiling/counters/cupti_provider.h"
#include "profiling/counters/no_counters.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace winnow::evaluators {
namespace {

constexpr std::string_view kDevice = "--device=";
constexpr std::string_view kHelpers = "--helpers=";
constexpr std::string_view kDeadline = "--deadline-ms=";
constexpr std::string_view kStanding = "--standing";
constexpr std::string_view kVariable = "--variable=";
constexpr const char* kCudaLibrary = "WINNOW_CUDA_LIBRARY";
constexpr const char* kHipLibrary = "WINNOW_HIP_LIBRARY";

int parse_number(std::string_view text, const std::string& whole) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value < 0) {
    throw UsageError("'" + whole + "': expected a number, not '" + std::string(text) + "'");
  }
  return value;
}

} // namespace

std::vector<std::string> arguments_of(const WorkerDevice& device) {
  std::vector<std::string> arguments{
      std::string(kDevice) + device.device, std::string(kHelpers) + device.helpers.string(),
      std::string(kDeadline) + std::to_string(device.deadline.count())};
  if (device.standing) {
    arguments.emplace_back(kStanding);
  }
  for (const auto& [name, value] : device.variables) {
    arguments.push_back(std::string(kVariable) + name + "=" + value);
  }
  return arguments;
}

WorkerDevice take_device_arguments(std::vector<std::string>& arguments) {
  WorkerDevice device;
  for (const std::string& argument : arguments) {
    if (argument.starts_with(kDevice)) {
      device.device = argument.substr(kDevice.size());
    } else if (argument.starts_with(kHelpers)) {
      device.helpers = argument.substr(kHelpers.size());
    } else if (argument.starts_with(kDeadline)) {
      device.deadline =
          std::chrono::milliseconds(parse_number(argument.substr(kDeadline.size()), argument));
    } else if (argument.starts_with(kVariable)) {
      const std::string variable = argument.substr(kVariable.size());
      const std::size_t equals = std::min(variable.find('='), variable.size() - 1);
      device.variables[variable.substr(0, equals)] = variable.substr(equals + 1);
    } else if (argument == kStanding) {
      device.standing = true;
    } else {
      throw Error("unknown hidden argument '" + argument + "'");
    }
  }
  arguments.clear();
  return device;
}

process::SandboxPolicy sandbox_policy(const WorkerDevice& device,
                                      const std::filesystem::path& modules) {
  process::SandboxPolicy policy;
  policy.readable = {modules};
  const char* library = device.device.starts_with("hip") ? kHipLibrary : kCudaLibrary;
  if (const auto named = device.variables.find(library); named != device.variables.end()) {
    policy.readable.emplace_back(named->second);
  }
  policy.gpu = device.is_gpu();
  return policy;
}

process::ProcessLimits standing_limits() {
  constexpr std::uint64_t kPrintedBytes = std::uint64_t{64} << 20U; // capped: device code prints it
  process::ProcessLimits limits;
  limits.wall = std::chrono::milliseconds(0); // each request has its own limit
  limits.output_bytes = kPrintedBytes;        // of one answer
  limits.file_bytes = kPrintedBytes;
  return limits;
}

std::map<std::string, std::string> driver_variables() {
  std::map<std::string, std::string> variables;
  for (const char* name : {kCudaLibrary, kHipLibrary}) {
    if (const char* library = std::getenv(name); library != nullptr && *library != 0) {
      variables[name] = std::filesystem::absolute(library);
    }
  }
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "HIP_VISIBLE_DEVICES",
                           "ROCR_VISIBLE_DEVICES"}) {
    if (const char* value = std::getenv(name)) {
      variables[name] = value;
    }
  }
  return variables;
}

DeviceName parse_device_name(const std::string& text) {
  const std::size_t colon = text.find(':');
  DeviceName name{text.substr(0, colon), 0};
  if (colon != std::string::npos) {
    name.ordinal = parse_number(std::string_view(text).substr(colon + 1), text);
  }
  return name;
}

std::unique_ptr<GpuDriver> open_worker_driver(const WorkerDevice& device) {
  const DeviceName name = parse_device_name(device.device);
  for (const auto& [variable, value] : device.variables) {
    setenv(variable.c_str(), value.c_str(), 1);
  }
  return name.kind == "hip" ? open_hip_driver(name.ordinal) : open_cuda_driver(name.ordinal);
}

std::unique_ptr<Device> make_worker_device(const WorkerDevice& device, CpuDeviceOptions cpu,
                                           std::span<std::byte> arena) {
  if (!device.is_gpu()) {
    return make_cpu_device(std::move(cpu));
  }
  GpuDeviceOptions options;
  options.helpers = device.helpers;
  options.deadline = device.deadline;
  options.arena = arena;
  options.on_fatal = std::move(cpu.on_fatal);
  const DeviceName name = parse_device_name(device.device);
  std::unique_ptr<GpuDriver> driver = open_worker_driver(device);
  if (name.kind == "cuda") {
    options.open_library = open_cuda_library;
    options.open_counters = [context = driver->context(), ordinal = name.ordinal] {
      return profiling::make_cupti_counters(context, ordinal);
    };
  } else {
    options.open_counters = [] {
      return profiling::make_no_counters(
          "amd", Availability::no("Winnow does not read the counters of AMD GPUs",
                                  "profile by hand: `rocprofv3 --pmc ...`"));
    };
  }
  return make_gpu_device(std::move(driver), std::move(options));
}

} // namespace winnow::evaluators
