#include "evaluators/worker/worker_device.h"

#include "base/error.h"
#include "evaluators/device/gpu/gpu_device.h"
#include "evaluators/device/vendors/gpu_vendors.h"

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

int parse_number(std::string_view text, const std::string& whole) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value < 0) {
    throw UsageError("'" + whole + "': expected a number, not '" + std::string(text) + "'");
  }
  return value;
}

const GpuVendor& vendor_of(const WorkerDevice& device) {
  return gpu_vendor(parse_device_name(device.device).kind);
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
  if (device.is_gpu()) {
    policy.gpu = true;
    const auto named = device.variables.find(vendor_of(device).library_variable);
    if (named != device.variables.end()) {
      policy.readable.emplace_back(named->second);
    }
  }
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
  for (const GpuVendor* vendor : gpu_vendors()) {
    const char* library = std::getenv(vendor->library_variable);
    if (library != nullptr && *library != 0) {
      variables[vendor->library_variable] = std::filesystem::absolute(library);
    }
    for (const char* name : vendor->variables) {
      if (const char* value = std::getenv(name)) {
        variables[name] = value;
      }
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
  return gpu_vendor(name.kind).open_driver(name.ordinal);
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
  std::unique_ptr<GpuDriver> driver = open_worker_driver(device);
  const GpuVendor& vendor = vendor_of(device);
  if (vendor.open_library != nullptr) {
    options.open_library = vendor.open_library;
  }
  options.open_counters = [open = vendor.open_counters, context = driver->context(),
                           ordinal = parse_device_name(device.device).ordinal] {
    return open(context, ordinal);
  };
  return make_gpu_device(std::move(driver), std::move(options));
}

} // namespace winnow::evaluators
