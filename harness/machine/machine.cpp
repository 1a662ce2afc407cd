#include "harness/machine/machine.h"

#include "evaluators/evaluation/blank_evaluation.h"
#include "evaluators/host/devices.h"

#include <iostream>
#include <mutex>

#include <nlohmann/json.hpp>
#include <sys/utsname.h>

namespace winnow::harness {

namespace {

void warn_of_rlimits(const Availability& better) {
  static std::once_flag once;
  std::call_once(once, [&better] {
    std::cerr << "isolation: only resource limits work here. They do not stop kernels and modules "
                 "from reading and writing your files, using the network, or reaching your other "
                 "processes. For a fence: "
              << better.remedy << ". --require-isolation landlock+seccomp refuses to go on\n";
  });
}

} // namespace

void check_isolation(const evaluators::MachineOptions& options) {
  const process::IsolationProbe& probe = process::probe_isolation();
  const process::Isolation required =
      options.require_isolation.value_or(process::Isolation::Rlimits);
  if (probe.best() >= required) {
    if (probe.best() == process::Isolation::Rlimits) {
      warn_of_rlimits(probe.bubblewrap);
    }
    return;
  }
  const Availability& wanted =
      required == process::Isolation::Bubblewrap ? probe.bubblewrap : probe.landlock_seccomp;
  throw NotPermitted("isolation '" + std::string(to_string(required)) +
                         "' is required, but it is not available: " + wanted.why,
                     wanted.remedy);
}

nlohmann::json describe_environment(const evaluators::DeviceReport& device) {
  nlohmann::json compilers = nlohmann::json::object();
  for (const evaluators::ToolReport& tool : evaluators::probe_compilers()) {
    if (tool.availability.ok) {
      compilers[tool.name] = tool.availability.detail;
    }
  }
  utsname system{};
  uname(&system);
  return {{"winnow", winnow_version()},
          {"evaluator_version", evaluators::kEvaluatorVersion},
          {"device",
           {{"kind", device.kind},
            {"name", device.name},
            {"uuid", device.uuid},
            {"driver", device.driver},
            {"facts", tasks::fact_values(device.facts)}}},
          {"isolation", std::string(to_string(process::probe_isolation().best()))},
          {"compilers", compilers},
          {"kernel", std::string(system.sysname) + " " + system.release + " " + system.machine}};
}

std::string winnow_version() {
  return WINNOW_VERSION;
}

} // namespace winnow::harness
