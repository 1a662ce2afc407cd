#pragma once

#include "evaluators/evaluation/device_pool.h"
#include "harness/brief/brief.h"
#include "remote/job_transport.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// Where workers of other machines are found. `url` empty: this machine judges.
struct BrokerOptions {
  std::string url;              ///< "nats://host:4222"
  std::string pool = "default"; ///< of workers
  std::string credentials;      ///< file with USER:PASSWORD
  std::string ca_file;          ///< of tls://; so are the next two
  std::string certificate_file, key_file;
};

/// What to connect to. Throws as remote::broker_address() does.
remote::BrokerAddress address_of(const BrokerOptions& broker);

/// The one place that decides where evaluations run: on the devices of this machine that
/// `machine.device` names, or at a broker's workers. `session_secret`: of an earlier session to go
/// on with; empty: none. Throws UsageError, DeviceUnavailable, NotPermitted, Error.
std::unique_ptr<evaluators::DevicePool> open_devices(const evaluators::MachineOptions& machine,
                                                     std::chrono::milliseconds run_timeout,
                                                     const BrokerOptions& broker,
                                                     const std::string& session_secret = {});

/// light_shares() on these devices. Nothing is measured here: without a file of what the devices
/// were measured to reach, and for devices of other machines, the speed of light follows from the
/// peaks that the driver states. `cache`: MachineOptions::cache.
using LightOfTask = std::function<LightShares(const tasks::Task&, const tasks::Evaluation&)>;
LightOfTask light_on(const evaluators::DevicePool& devices, const std::filesystem::path& cache,
                     const BrokerOptions& broker);

/// describe_environment() of the machine that judges.
nlohmann::json environment_of(const evaluators::DevicePool& devices);

} // namespace winnow::harness
