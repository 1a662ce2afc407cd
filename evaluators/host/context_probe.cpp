// Tests whether a GPU gives a context to a process with the fences of a worker.
#include "evaluators/host/context_probe.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "evaluators/host/device_host.h"
#include "evaluators/worker/worker_device.h"
#include "process/probe_checks.h"

#include <cstdio>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

constexpr std::chrono::milliseconds kContextTime{60'000}; // a cold driver takes seconds
constexpr std::string_view kOpened = "winnow context: opened";

Availability open_context(const DeviceReport& device, process::Isolation level) {
  const GpuLock lock(device); // opening a context would disturb another process's timings
  const TemporaryDirectory modules("context");
  WorkerDevice worker;
  worker.device = device.id;
  worker.variables = driver_variables();
  process::ProcessLimits limits = standing_limits();
  limits.wall = kContextTime;
  const process::ChildResult child =
      process::run_child(process::Sandbox(level, executable_path())
                             .command("_context", arguments_of(worker),
                                      sandbox_policy(worker, modules.path()), limits),
                         "");
  const bool opened = child.end == process::ChildResult::End::Exited && child.exit_code == 0 &&
                      trim(child.out) == kOpened;
  return opened ? Availability::yes(fmt::format("a context opens under {}", to_string(level)))
                : process::reported_failure(child);
}

} // namespace

Availability probe_context(const DeviceReport& device, process::Isolation level) {
  try {
    return open_context(device, level);
  } catch (const Error& error) {
    return Availability::no(error.what(), error.remedy());
  }
}

int context_probe_worker_main(std::vector<std::string> arguments) {
  try {
    process::enter_sandbox(arguments);
    open_worker_driver(take_device_arguments(arguments));
  } catch (const Error& error) {
    return process::report_failure(error);
  }
  std::printf("%s\n", std::string(kOpened).c_str());
  return 0;
}

} // namespace winnow::evaluators
