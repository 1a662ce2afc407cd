#pragma once

#include "evaluators/evaluation/evaluation_options.h"
#include "evaluators/evaluation/evaluation_request.h"
#include "harness/brief/brief.h"
#include "harness/client/judge_server.h"
#include "harness/commands/commands.h"
#include "harness/machine/judging_devices.h"
#include "harness/named/named_task.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::harness {

class ServerRemarks; // harness/client/server_evaluations.h

/// The command-line options that all commands that judge kernels share.
struct JudgingOptions {
  evaluators::EvaluationOptions evaluation;
  BrokerOptions broker;
  ServerOptions server;
};

/// Helps of --device.
std::string one_device();
std::string several_devices();
/// Of --time-budget.
constexpr const char* kTimeBudgetHelp =
    "sampling time per shape and kernel; default 150ms on the cpu, 20ms on a GPU";

/// Adds --require-isolation.
void add_isolation_option(CLI::App& sub, std::optional<process::Isolation>& level);

/// Adds --device, --seed, --timeout, --compile-timeout, --require-isolation and the options of
/// brokers, and returns what it has added. `devices` describes the allowed devices in the help
/// text.
std::vector<CLI::Option*> add_judging_options(CLI::App& sub, JudgingOptions& options,
                                              const std::string& devices);
/// Adds --broker, --pool, --broker-credentials, and --broker-ca and the other files of TLS.
void add_broker_options(CLI::App& sub, BrokerOptions& options);
/// Throws NotPermitted.
evaluators::EvaluationOptions resolved(const JudgingOptions& options);

/// Adds --server and --token-file. The options `here_only`, which the server decides, exclude
/// --server.
void add_server_options(CLI::App& sub, ServerOptions& options,
                        const std::vector<CLI::Option*>& here_only);

/// Where a command judges kernels of one task: here, or at a server.
class JudgingPlace {
public:
  /// Finds the task. `store`: of the command; looks up candidates at the server from now on. Throws
  /// as named_task() and served_task().
  JudgingPlace(const JudgingOptions& options, const std::string& task, CommandStore& store);

  const tasks::Task& task() const { return task_; } ///< a server's has nothing but its name
  /// As open_devices() below.
  std::unique_ptr<evaluators::DevicePool> open(const evaluators::EvaluationOptions& resolved,
                                               bool only_one = false) const;
  /// What speedups are against, on a device of this kind.
  std::string versus(std::string_view device_kind) const;
  /// tasks::unproven_warning(); empty: nothing to warn of.
  std::string warning(const std::string& device_kind) const;
  /// light_shares() on devices of open().
  std::function<LightShares(const tasks::Evaluation&)>
  light(const evaluators::DevicePool& devices, const evaluators::EvaluationOptions& resolved) const;

private:
  const JudgingOptions& options_;
  tasks::Task task_;
  std::optional<ServedTask> served_;       ///< nullopt: here
  std::shared_ptr<ServerRemarks> remarks_; ///< of the server
};

/// The devices that the options name. Of several devices of this machine only the first, if
/// `only_one`. Throws as open_devices().
std::unique_ptr<evaluators::DevicePool> open_devices(const JudgingOptions& options,
                                                     evaluators::EvaluationOptions resolved,
                                                     bool only_one = false);

/// The default of --time-budget where a race decides.
std::chrono::milliseconds race_budget(std::string_view device_kind);

/// The first evaluation. Throws Error for a fault. nullopt, which means interrupted, becomes an
/// evaluation without a verdict.
tasks::Evaluation evaluation_of(std::optional<evaluators::EvaluationResult> result);

} // namespace winnow::harness
