// Finds the devices and compilers of this machine.
#include "evaluators/host/devices.h"

#include "base/error.h"
#include "base/files.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "evaluators/device/cpu/compile/cpu_compiler.h"
#include "evaluators/device/cpu/cpu_device.h"
#include "evaluators/device/vendors/gpu_vendors.h"
#include "evaluators/worker/worker_device.h"
#include "profiling/host_info.h"

#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

constexpr std::chrono::milliseconds kProbeTimeout{30'000};
constexpr const char* kNoCompiler = "apt-get install clang (or g++) and binutils";

std::vector<ToolReport> probe_cpu_compilers() {
  return {{"clang++", probe_cpu_compiler("clang++")}, {"g++", probe_cpu_compiler("g++")}};
}

DeviceReport probe_cpu() {
  const profiling::HostInfo& host = profiling::host_info();
  DeviceReport report;
  report.kind = report.id = "cpu";
  report.name = fmt::format("{}, {} cores", host.cpu_model, host.cores);
  report.facts = cpu_device_facts();
  for (const ToolReport& tool : probe_cpu_compilers()) {
    if (tool.availability.ok) {
      report.availability = Availability::yes(fmt::format("{} with {}", report.name, tool.name));
      return report;
    }
  }
  report.availability = Availability::no("no compiler for device code works here", kNoCompiler);
  return report;
}

std::string each_vendor(const char* between, std::string (*text)(const GpuVendor&)) {
  std::vector<std::string> texts;
  for (const GpuVendor* vendor : gpu_vendors()) {
    texts.push_back(text(*vendor));
  }
  return join(texts, between);
}

// Reads the reports of the child process. If the child fails, each kind gets the reason.
std::vector<DeviceReport> probe_gpus() {
  process::Command command;
  command.argv = {executable_path().string(), "_devices"};
  command.environment = driver_variables();
  command.limits.wall = kProbeTimeout;
  const process::ChildResult child = process::run_child(command, {});
  std::vector<DeviceReport> reports;
  try {
    const nlohmann::json found = nlohmann::json::parse(child.out);
    for (const GpuVendor* vendor : gpu_vendors()) {
      for (const nlohmann::json& probe : found.at(vendor->kind)) {
        reports.push_back(probe.get<DeviceReport>());
      }
    }
  } catch (const std::exception&) { // from nlohmann and from_json()
    const std::string remedy = "run " +
                               each_vendor(" or ",
                                           [](const GpuVendor& vendor) {
                                             return fmt::format("`{}`", vendor.status_program);
                                           }) +
                               "; a driver that hangs needs a restart";
    reports.clear();
    for (const GpuVendor* vendor : gpu_vendors()) {
      reports.push_back(
          no_device(vendor->kind, "the process that looks for GPUs " + describe(child), remedy));
    }
  }
  return reports;
}

// Marks a GPU as unavailable if there is no compiler for its code.
void require_compiler(DeviceReport& report, const Availability& compiler) {
  if (report.availability.ok && !compiler.ok) {
    report.availability = Availability::no(
        fmt::format("this machine has {}, but {}", report.name, compiler.why), compiler.remedy);
  }
}

std::vector<DeviceReport> probe_all() {
  std::vector<DeviceReport> reports{probe_cpu()};
  for (DeviceReport& report : probe_gpus()) {
    require_compiler(report, gpu_vendor(report.kind).probe_compiler());
    reports.push_back(std::move(report));
  }
  return reports;
}

const DeviceReport* find_best(const std::vector<DeviceReport>& reports) {
  const auto usable = [](const DeviceReport& report) { return report.availability.ok; };
  const auto gpu = std::find_if(reports.begin() + 1, reports.end(), usable);
  if (gpu != reports.end()) {
    return &*gpu;
  }
  return usable(reports.front()) ? &reports.front() : nullptr;
}

[[noreturn]] void no_device_at_all(const std::vector<DeviceReport>& reports) {
  std::vector<std::string> reasons;
  for (const DeviceReport& report : reports) {
    reasons.push_back(report.id + ": " + report.availability.why);
  }
  throw DeviceUnavailable("no device can be used: " + join(reasons, "; "), kNoCompiler);
}

} // namespace

const std::vector<DeviceReport>& probe_devices() {
  static const std::vector<DeviceReport> reports = probe_all();
  return reports;
}

// NOLINTNEXTLINE(*-unnecessary-value-param): all workers have one signature
int device_probe_worker_main(std::vector<std::string> /*arguments*/) {
  nlohmann::json found;
  for (const GpuVendor* vendor : gpu_vendors()) {
    found[std::string(vendor->kind)] = vendor->probe_devices();
  }
  std::cout << json_line(found) << std::flush;
  return 0;
}

std::vector<ToolReport> probe_compilers() {
  std::vector<ToolReport> tools = probe_cpu_compilers();
  for (const GpuVendor* vendor : gpu_vendors()) {
    tools.push_back({std::string(vendor->compiler), vendor->probe_compiler()});
  }
  return tools;
}

DeviceReport select_device(const std::string& name) {
  const std::vector<DeviceReport>& reports = probe_devices();
  if (name == "best") {
    const DeviceReport* best = find_best(reports);
    if (best == nullptr) {
      no_device_at_all(reports);
    }
    return *best;
  }
  const std::string kind = name.substr(0, name.find(':'));
  std::vector<std::string> known{"best"}, here{"best"};
  for (const DeviceReport& report : reports) {
    known.push_back(report.id);
    const bool is_there = report.availability.ok;
    const bool has_no_such = !is_there && report.id == report.kind && kind == report.kind;
    if (name != report.id && name != report.kind && !has_no_such) {
      here.insert(here.end(), is_there ? 1 : 0, report.id);
      continue;
    }
    if (!is_there) {
      const bool has_cpu = reports.front().availability.ok;
      throw DeviceUnavailable(
          fmt::format("device '{}' cannot be used: {}", name, report.availability.why),
          report.availability.remedy +
              (has_cpu ? "; or take --device cpu, which needs no GPU" : ""));
    }
    return report;
  }
  const bool known_kind = std::any_of(reports.begin(), reports.end(),
                                      [&](const DeviceReport& one) { return one.kind == kind; });
  if (known_kind && kind != name) {
    throw DeviceUnavailable(fmt::format("there is no device '{}' here; the devices here are {}",
                                        name, join(here, ", ")),
                            "see `winnow doctor`");
  }
  if (name == "gpu") {
    throw UsageError("unknown device 'gpu'",
                     "write " + each_vendor(", ", [](const GpuVendor& vendor) {
                       return fmt::format("{} for {}", vendor.kind, vendor.gpu);
                     }));
  }
  throw UsageError(fmt::format("unknown device '{}'{}", name, suggestion(name, known)));
}

std::vector<DeviceReport> select_devices(const std::string& names) {
  std::vector<DeviceReport> devices;
  std::size_t begin = 0;
  while (begin <= names.size()) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    DeviceReport device = select_device(std::string(trim(names.substr(begin, end - begin))));
    for (const DeviceReport& other : devices) {
      if (other.id == device.id) {
        throw UsageError("--device names " + device.id + " twice");
      }
      if (other.kind != device.kind || other.name != device.name) {
        throw UsageError(
            fmt::format(
                "{} ({}) and {} ({}) are different models: their times cannot be ranked together",
                other.id, other.name, device.id, device.name),
            "name devices of one model, or start a run for each");
      }
    }
    devices.push_back(std::move(device));
    begin = end + 1;
  }
  return devices;
}

} // namespace winnow::evaluators
