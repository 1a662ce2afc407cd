#include "base/error.h"
#include "evaluators/evaluation/open_devices.h"
#include "harness/commands/commands.h"
#include "harness/commands/judging.h"
#include "harness/exit/interrupt.h"
#include "harness/machine/machine.h"
#include "remote/broker_credentials.h"
#include "remote/remote_worker.h"
#include "remote/transport_library.h"
#include "remote/worker_selftest.h"
#include "tasks/catalogue.h"
#include "tasks/parse/task_parse.h"
#include "tasks/task/task.h"

#include <chrono>
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using Clock = std::chrono::steady_clock;

struct WorkerCommand {
  BrokerOptions broker;
  std::string name; ///< empty: the user of the credentials
  evaluators::EvaluationOptions options;
  std::chrono::milliseconds wait = std::chrono::minutes(5);
  bool trusted = false;
  bool torch = false;
};

constexpr std::chrono::milliseconds kConnectEvery{2'000};
/// Jobs that a device has at a time: on a GPU the next one is compiled while one runs.
constexpr std::size_t kHeldOnGpu = 2;

/// A line on stderr, from any thread.
void say_line(const std::string& line) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::cerr << line << std::endl;
}

evaluators::EvaluationOptions machine_options(const WorkerCommand& command) {
  evaluators::EvaluationOptions options = command.options;
  check_isolation(options);
  return options;
}

remote::WorkerIdentity identity_of(const WorkerCommand& command,
                                   const remote::BrokerAddress& broker) {
  remote::WorkerIdentity identity{command.name.empty() ? broker.user : command.name,
                                  command.broker.pool, command.trusted};
  if (!remote::is_name(identity.name)) {
    throw UsageError("--name: '" + identity.name + "' cannot be the name of a worker",
                     "use the name of the broker's user: up to 64 letters, digits, '-' and '_'");
  }
  if (!remote::is_name(identity.pool)) {
    throw UsageError("--pool: '" + identity.pool + "' cannot be the name of a pool",
                     "use up to 64 letters, digits, '-' and '_'");
  }
  return identity;
}

/// Tries until the broker answers or the time is over.
std::unique_ptr<remote::WorkerTransport> connected(const WorkerCommand& command,
                                                   const remote::BrokerAddress& broker,
                                                   const remote::WorkerIdentity& identity,
                                                   const Interrupt& interrupt) {
  const auto until = Clock::now() + command.wait;
  for (bool told = false;; std::this_thread::sleep_for(kConnectEvery)) {
    try {
      return remote::nats_transports().worker(broker, identity);
    } catch (const remote::BrokerUnavailable& error) {
      if (Clock::now() + kConnectEvery > until || interrupt.interrupted()) {
        throw;
      }
      if (!std::exchange(told, true)) {
        say_line(
            fmt::format("{}; trying again for {} s", error.what(), command.wait.count() / 1000));
      }
    }
  }
}

remote::Heartbeat self_of(const WorkerCommand& command, const evaluators::OpenDevices& devices) {
  remote::Heartbeat self;
  self.pool = command.broker.pool;
  self.trusted = command.trusted;
  self.isolation = to_string(process::probe_isolation().best());
  self.torch = command.torch;
  self.devices = devices.reports();
  self.environment = describe_environment(devices.first());
  return self;
}

/// Before the worker takes jobs.
void prove(const evaluators::OpenDevices& devices) {
  constexpr const char* kTask = "blas/axpy";
  remote::require_right_verdicts(devices.factory(), devices.size(), devices.first().kind,
                                 tasks::load_task(tasks::find_catalogue() / kTask));
}

ExitCode serve_jobs(const WorkerCommand& command, const remote::WorkerIdentity& identity,
                    remote::WorkerTransport& transport, const evaluators::OpenDevices& devices,
                    Interrupt& interrupt) {
  remote::RemoteWorker::Setup setup{.transport = transport,
                                    .evaluations = devices.factory(),
                                    .self = self_of(command, devices),
                                    .say = say_line};
  setup.name = identity.name;
  setup.most_held = devices.size() * (devices.first().kind == "cpu" ? 1 : kHeldOnGpu);
  remote::RemoteWorker worker(std::move(setup));
  say_line(fmt::format("worker '{}' of the pool '{}' is ready on {} ({}), isolation {}{}",
                       identity.name, identity.pool, devices.names(), devices.first().name,
                       to_string(process::probe_isolation().best()),
                       identity.trusted ? ", trusted with held-out shapes" : ""));
  const OnInterrupt stop(interrupt, [&] {
    say_line("stopping: finishing what is at work; a second signal ends the worker at once");
    worker.drain();
  });
  worker.run();
  say_line(fmt::format("worker '{}' has finished {} jobs", identity.name, worker.finished_jobs()));
  return ExitCode::Done;
}

ExitCode work(const WorkerCommand& command) {
  Interrupt interrupt; // before any other thread starts
  const remote::BrokerAddress broker = address_of(command.broker);
  const remote::WorkerIdentity identity = identity_of(command, broker);
  const evaluators::EvaluationOptions options = machine_options(command);
  remote::nats_transports(); // reports a missing library before a device is opened
  try {
    const auto transport = connected(command, broker, identity, interrupt);
    const evaluators::OpenDevices devices(options, options.run_timeout);
    if (command.torch) {
      devices.start_torch();
    }
    prove(devices);
    return serve_jobs(command, identity, *transport, devices, interrupt);
  } catch (const remote::BrokerRefused& error) {
    throw NotPermitted(error.what(), error.remedy());
  }
}

void add_options(CLI::App& sub, WorkerCommand& command) {
  command.options.run_timeout = std::chrono::seconds(60);
  add_broker_options(sub, command.broker);
  sub.get_option("--broker")->required();
  sub.add_option("--name", command.name,
                 "name of this worker: that of its user at the broker (default: the user of the "
                 "credentials)");
  sub.add_option("--device", command.options.device, several_devices());
  sub.add_flag("--trusted", command.trusted,
               "also hold finals, which need the held-out shapes of tasks; the broker must allow "
               "it (`winnow broker init --trusted-worker`)");
  sub.add_flag("--torch", command.torch,
               "start PyTorch, which the references of imported tasks need");
  add_isolation_option(sub, command.options.require_isolation);
  sub.add_option("--precheck-cmd", command.options.precheck,
                 "shell command that reads each kernel file from stdin and may refuse it, as for "
                 "`winnow eval`");
  add_duration(sub, "--timeout", command.options.run_timeout,
               "wall-clock limit of one run in a child; coordinators may set a shorter one");
  add_duration(sub, "--compile-timeout", command.options.compile_timeout,
               "wall-clock limit of one compiler");
  sub.add_option("--memory-bytes", command.options.memory_bytes, "memory limit of a child")
      ->check(CLI::Range(std::uint64_t{1} << 20U, std::uint64_t{1} << 50U));
  add_duration(sub, "--wait", command.wait,
               "how long to try to reach the broker before the worker gives up (exit code 1)");
}

} // namespace

void add_worker(CLI::App& app, Action& chosen) {
  const auto [sub, command] =
      add_command(app, chosen, "worker",
                  "Judge on this machine what coordinators on other machines ask for through a "
                  "broker, until SIGTERM or Ctrl-C (docs/distributed.md)",
                  work);
  add_options(sub, command);
}

} // namespace winnow::harness
