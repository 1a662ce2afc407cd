// Which devices and compilers this machine has.
#include "base/error.h"
#include "base/text.h"
#include "evaluators/device/cpu/compile/cpu_compiler.h"
#include "evaluators/device/cpu/cpu_device.h"
#include "evaluators/evaluator.h"
#include "profiling/host_info.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

constexpr const char* kNoCompiler = "apt-get install clang (or g++) and binutils";

DeviceReport probe_cpu() {
  const profiling::HostInfo host = profiling::host_info();
  DeviceReport report{
      "cpu", fmt::format("{}, {} cores", host.cpu_model, host.cores), {}, cpu_device_facts()};
  for (const ToolReport& tool : probe_compilers()) {
    if (tool.availability.ok) {
      report.availability = Availability::yes(fmt::format("{} with {}", report.name, tool.name));
      return report;
    }
  }
  report.availability = Availability::no("no compiler for device code works here", kNoCompiler);
  return report;
}

// GPU devices are not part of this version; doctor still says what the machine has.
DeviceReport probe_gpu(const char* kind, const char* library, const char* driver) {
  DeviceReport report{kind, "", {}, {}};
  void* handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    report.availability =
        Availability::no(fmt::format("no {} ({} cannot be loaded)", driver, library),
                         "use the cpu device: this version of Winnow runs kernels on it only");
    return report;
  }
  report.availability = Availability::no(
      fmt::format("{} found, but this version of Winnow runs kernels on the cpu device only",
                  driver),
      "use the cpu device");
  dlclose(handle);
  return report;
}

} // namespace

std::vector<DeviceReport> probe_devices() {
  return {probe_cpu(), probe_gpu("cuda", "libcuda.so.1", "NVIDIA driver"),
          probe_gpu("hip", "libamdhip64.so", "HIP runtime")};
}

std::vector<ToolReport> probe_compilers() {
  return {{"clang++", probe_cpu_compiler("clang++")}, {"g++", probe_cpu_compiler("g++")}};
}

DeviceReport select_device(const std::string& kind) {
  std::vector<std::string> known{"best"};
  std::string reasons;
  for (const DeviceReport& report : probe_devices()) {
    known.push_back(report.kind);
    if (report.availability.ok && (kind == "best" || kind == report.kind)) {
      return report;
    }
    if (kind == report.kind) {
      throw DeviceUnavailable(
          fmt::format("device '{}' cannot be used: {}", kind, report.availability.why),
          report.availability.remedy);
    }
    reasons +=
        fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", report.kind, report.availability.why);
  }
  if (kind != "best") {
    throw UsageError(fmt::format("unknown device '{}'{}", kind, suggestion(kind, known)));
  }
  throw DeviceUnavailable("no device can be used: " + reasons, kNoCompiler);
}

} // namespace winnow::evaluators
