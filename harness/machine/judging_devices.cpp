#include "harness/machine/judging_devices.h"

#include "base/error.h"
#include "base/files.h"
#include "evaluators/ceilings/measure_ceilings.h"
#include "evaluators/evaluation/open_devices.h"
#include "harness/machine/machine.h"
#include "remote/broker_config.h"
#include "remote/broker_credentials.h"
#include "remote/remote_devices.h"
#include "remote/transport_library.h"

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

namespace winnow::harness {
namespace {

/// What a worker decides for itself must not seem to be decided here.
void check_machine_options(const evaluators::MachineOptions& machine) {
  const evaluators::MachineOptions usual;
  const auto refuse = [](bool is_set, const std::string& key, const std::string& option) {
    if (is_set) {
      throw UsageError(key + " has no effect with --broker, because the workers compile and run "
                             "the kernels",
                       "give " + option + " to `winnow worker`");
    }
  };
  refuse(!machine.precheck.empty(), "evaluation.precheck", "--precheck-cmd");
  refuse(machine.compile_timeout != usual.compile_timeout, "evaluation.compile_timeout",
         "--compile-timeout");
  refuse(machine.memory_bytes != usual.memory_bytes, "evaluation.memory_bytes", "--memory-bytes");
}

std::unique_ptr<evaluators::DevicePool> remote_devices(const evaluators::MachineOptions& machine,
                                                       const BrokerOptions& broker,
                                                       const std::string& session_secret) {
  check_machine_options(machine);
  remote::RemoteDevices::Setup setup;
  setup.broker = address_of(broker);
  setup.pool = broker.pool;
  if (!remote::is_name(broker.pool)) {
    throw UsageError("--pool: '" + broker.pool + "' cannot be the name of a pool",
                     "use up to 64 letters, digits, '-' and '_'");
  }
  setup.device = machine.device.substr(0, machine.device.find_first_of(":,")); // its kind
  if (machine.require_isolation) {
    setup.isolation = to_string(*machine.require_isolation);
  }
  setup.secret = session_secret.empty() ? remote::random_secret() : session_secret;
  setup.warn = [](const std::string& line) { spdlog::warn("{}", line); };
  try {
    return std::make_unique<remote::RemoteDevices>(remote::nats_transports(), std::move(setup));
  } catch (const remote::BrokerRefused& error) {
    throw NotPermitted(error.what(), error.remedy());
  }
}

} // namespace

remote::BrokerAddress address_of(const BrokerOptions& broker) {
  return remote::broker_address(
      broker.url, {broker.credentials, broker.ca_file, broker.certificate_file, broker.key_file});
}

std::unique_ptr<evaluators::DevicePool> open_devices(const evaluators::MachineOptions& machine,
                                                     std::chrono::milliseconds run_timeout,
                                                     const BrokerOptions& broker,
                                                     const std::string& session_secret) {
  if (!broker.url.empty()) {
    return remote_devices(machine, broker, session_secret);
  }
  return std::make_unique<evaluators::OpenDevices>(
      machine, run_timeout, [](const std::string& line) { spdlog::warn("{}", line); });
}

namespace {

/// What the devices were measured to reach.
profiling::Ceilings known_ceilings(const evaluators::DevicePool& devices,
                                   const std::filesystem::path& cache,
                                   const BrokerOptions& broker) {
  if (!broker.url.empty()) {
    return {};
  }
  const profiling::CeilingsOwner owner = evaluators::ceilings_owner(devices.first());
  const std::filesystem::path folder = cache.empty() ? cache_directory() : cache;
  return profiling::load_ceilings(folder / profiling::ceilings_file_name(owner), owner)
      .value_or(profiling::Ceilings{});
}

} // namespace

LightOfTask light_on(const evaluators::DevicePool& devices, const std::filesystem::path& cache,
                     const BrokerOptions& broker) {
  return [device = devices.first(), ceilings = known_ceilings(devices, cache, broker)](
             const tasks::Task& task, const tasks::Evaluation& evaluation) {
    return light_shares(device, task, evaluation, ceilings);
  };
}

nlohmann::json environment_of(const evaluators::DevicePool& devices) {
  nlohmann::json environment = devices.environment();
  return environment.is_null() ? describe_environment(devices.first()) : environment;
}

} // namespace winnow::harness
