#include "harness/commands/judging.h"

#include "base/error.h"
#include "evaluators/host/devices.h"
#include "harness/config/duration.h"
#include "harness/machine/machine.h"

#include <cstdint>
#include <limits>

#include <CLI/CLI.hpp>

namespace winnow::harness {

void add_isolation_option(CLI::App& sub, std::optional<process::Isolation>& level) {
  sub.add_option_function<std::string>(
         "--require-isolation",
         [&level](const std::string& text) { level = process::isolation_from_string(text); },
         "rlimits, landlock+seccomp or bubblewrap: fail (exit code 4) if the sandbox of this "
         "machine is weaker")
      ->check(CLI::IsMember({"rlimits", "landlock+seccomp", "bubblewrap"}));
}

void add_judging_options(CLI::App& sub, JudgingOptions& options, const std::string& devices) {
  sub.add_option("--device", options.evaluation.device, devices)->capture_default_str();
  sub.add_option(
         "--seed", options.evaluation.seed,
         "seed that an earlier evaluation has shown, to repeat that evaluation; boards do not "
         "rank a repeated evaluation (default: a new seed for each evaluation)")
      ->check(CLI::Range(std::uint64_t{1}, std::numeric_limits<std::uint64_t>::max()));
  sub.add_option("--timeout", options.timeout, "wall-clock limit of one stage")
      ->capture_default_str();
  sub.add_option("--compile-timeout", options.compile_timeout, "wall-clock limit of one compiler")
      ->capture_default_str();
  add_isolation_option(sub, options.evaluation.require_isolation);
  add_broker_options(sub, options.broker);
}

void add_broker_options(CLI::App& sub, BrokerOptions& options) {
  sub.add_option("--broker", options.url, kBrokerHelp)->type_name("URL");
  sub.add_option("--pool", options.pool, kPoolHelp)->capture_default_str();
  sub.add_option("--broker-credentials", options.credentials, kCredentialsHelp)->type_name("FILE");
  sub.add_option("--broker-ca", options.ca_file, kCaHelp)->type_name("FILE");
  sub.add_option("--broker-certificate", options.certificate_file, kCertificateHelp)
      ->type_name("FILE");
  sub.add_option("--broker-key", options.key_file, kKeyHelp)->type_name("FILE");
}

std::unique_ptr<evaluators::DevicePool>
open_devices(const JudgingOptions& options, evaluators::EvaluationOptions resolved, bool only_one) {
  if (only_one && options.broker.url.empty()) {
    resolved.device = evaluators::select_device(resolved.device).id;
  }
  return open_devices(resolved, resolved.run_timeout, options.broker);
}

CLI::Option* add_time_budget(CLI::App& sub, std::string& time_budget, const std::string& defaults) {
  return sub.add_option("--time-budget", time_budget,
                        "sampling time per shape and kernel; default " + defaults);
}

evaluators::EvaluationOptions resolved(const JudgingOptions& options) {
  evaluators::EvaluationOptions evaluation = options.evaluation;
  evaluation.counters = evaluators::Counting::Off; // the `profile` command turns them on
  if (!options.time_budget.empty()) {
    evaluation.time_budget = duration_option("--time-budget", options.time_budget);
  }
  evaluation.run_timeout = duration_option("--timeout", options.timeout);
  evaluation.compile_timeout = duration_option("--compile-timeout", options.compile_timeout);
  if (options.broker.url.empty()) {
    check_isolation(evaluation);
  }
  return evaluation;
}

std::chrono::milliseconds race_budget(std::string_view device_kind) {
  return std::chrono::milliseconds(device_kind == "cpu" ? 1000 : 300);
}

tasks::Evaluation evaluation_of(std::optional<evaluators::EvaluationResult> result) {
  if (!result) {
    return {};
  }
  if (!result->fault.empty()) {
    throw Error(result->fault);
  }
  return std::move(result->evaluations.front());
}

} // namespace winnow::harness
