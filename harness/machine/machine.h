#pragma once

#include "base/error.h"
#include "evaluators/device/device_report.h"
#include "evaluators/host/machine_options.h"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// Throws NotPermitted if an isolation level is required and this machine offers only weaker ones.
/// If the machine offers resource limits alone, says once on stderr what they do not stop.
void check_isolation(const evaluators::MachineOptions& options);

/// The facts that results may depend on: versions, device, compilers, isolation, kernel. Contains
/// no host name and no user name.
nlohmann::json describe_environment(const evaluators::DeviceReport& device);

std::string winnow_version();

/// A required isolation level or permission is not available. Exit code 4.
class NotPermitted : public Error {
public:
  using Error::Error;
};

} // namespace winnow::harness
