#include "harness/machine.h"

#include "harness/not_permitted.h"

#include <nlohmann/json.hpp>
#include <sys/utsname.h>

namespace winnow::harness {

void check_isolation(const evaluators::EvaluationOptions& options) {
  if (!options.require_isolation) {
    return;
  }
  const process::IsolationProbe probe = process::probe_isolation();
  if (probe.best() >= *options.require_isolation) {
    return;
  }
  const Availability& wanted = *options.require_isolation == process::Isolation::Bubblewrap
                                   ? probe.bubblewrap
                                   : probe.landlock_seccomp;
  throw NotPermitted("isolation '" + std::string(to_string(*options.require_isolation)) +
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
