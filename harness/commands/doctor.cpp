#include "harness/doctor/doctor.h"

#include "base/error.h"
#include "harness/commands/commands.h"

#include <iostream>

#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

struct DoctorCommand {
  std::string config;
  bool json = false;
  bool isolation = false;
};

/// Without a config file, the defaults are examined, because the doctor must work everywhere.
RunConfig config_to_examine(const std::string& given) {
  if (!given.empty()) {
    return load_config(find_config(given), {});
  }
  std::string found;
  try {
    found = find_config("").string();
  } catch (const UsageError&) {
    return {};
  }
  return load_config(found, {});
}

ExitCode doctor(const DoctorCommand& command) {
  if (command.isolation) {
    std::cout << to_string(try_isolation());
    return ExitCode::Done;
  }
  const std::vector<Examined> findings = examine_machine(config_to_examine(command.config));
  if (command.json) {
    std::cout << doctor_json(findings).dump(2) << '\n';
  } else {
    std::cout << doctor_text(findings);
  }
  return any_device_usable(findings) ? ExitCode::Done : ExitCode::DeviceUnavailable;
}

} // namespace

void add_doctor(CLI::App& app, Action& chosen) {
  const auto [sub, command] = add_command(app, chosen, "doctor",
                                          "Show which devices, compilers, isolation levels "
                                          "and endpoints work here, and why others do not",
                                          doctor);
  sub.add_option("--config", command.config,
                 "TOML file with the endpoint and the store to examine (default: quickstart)");
  sub.add_flag("--json", command.json, "one JSON document, schema winnow.doctor, version 1");
  sub.add_flag("--isolation", command.isolation,
               "try to break out of each isolation level and print which attempts were stopped")
      ->excludes("--json");
}

} // namespace winnow::harness
