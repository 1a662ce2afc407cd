#include "base/error.h"
#include "harness/commands/commands.h"
#include "harness/commands/judging.h"
#include "harness/machine/machine.h"
#include "harness/report/worker_line.h"
#include "remote/broker_config.h"
#include "remote/broker_credentials.h"
#include "remote/transport_library.h"
#include "remote/worker_roster.h"

#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

struct BrokerInit {
  std::string output = "broker";
  std::string listen = "127.0.0.1:4222";
  std::vector<std::string> workers, trusted; ///< "NAME" or "NAME@POOL"
  remote::BrokerTls tls;
};

remote::WorkerIdentity worker_of(const std::string& text, bool trusted) {
  const std::size_t at = text.find('@');
  return {text.substr(0, at), at == std::string::npos ? "default" : text.substr(at + 1), trusted};
}

/// "HOST:4222" where the broker listens on all addresses of its machine.
std::string address_for_workers(const std::string& listen) {
  constexpr std::string_view kAll = "0.0.0.0";
  return listen.starts_with(kAll) ? "HOST" + listen.substr(kAll.size()) : listen;
}

/// nats-server may run in another folder.
remote::BrokerTls absolute_files(remote::BrokerTls tls) {
  for (std::string* file : {&tls.certificate, &tls.key, &tls.client_ca}) {
    if (!file->empty()) {
      *file = fs::absolute(*file).lexically_normal().string();
    }
  }
  if (!tls.key.empty()) {
    remote::require_private(tls.key, "a private key");
  }
  return tls;
}

/// The options of TLS that a client of this broker needs.
std::string tls_options(const remote::BrokerTls& tls) {
  return tls.certificate.empty() ? ""
         : tls.client_ca.empty() ? " --broker-ca CA.pem"
                                 : " --broker-ca CA.pem --broker-certificate CLIENT.pem "
                                   "--broker-key CLIENT.key";
}

ExitCode init(const BrokerInit& command) {
  if (command.workers.empty() && command.trusted.empty()) {
    throw UsageError("a broker without workers is of no use",
                     "give --trusted-worker NAME for each of your own machines");
  }
  const fs::path folder = fs::absolute(command.output).lexically_normal();
  remote::BrokerPlan plan;
  plan.listen = command.listen;
  plan.store_folder = (folder / "store").string();
  plan.tls = absolute_files(command.tls);
  for (const std::string& text : command.workers) {
    plan.workers.push_back(worker_of(text, false));
  }
  for (const std::string& text : command.trusted) {
    plan.workers.push_back(worker_of(text, true));
  }
  remote::write_private_files(folder, remote::broker_files(plan));
  std::cout << fmt::format("{0}/nats.conf: start the broker with: nats-server -c {0}/nats.conf\n"
                           "{0}/passwords.conf: the passwords of its users; keep it beside "
                           "nats.conf\n"
                           "{0}/coordinator.credentials: for `winnow run --broker`, `eval "
                           "--broker`, ...\n",
                           folder.string());
  const bool has_tls = !plan.tls.certificate.empty();
  for (const remote::WorkerIdentity& worker : plan.workers) {
    std::cout << fmt::format(
        "{}/{}.credentials: copy it to the worker's machine: winnow worker "
        "--broker {}://{} --pool {}{} --broker-credentials "
        "{}.credentials{}\n",
        folder.string(), worker.name, has_tls ? "tls" : "nats", address_for_workers(command.listen),
        worker.pool, worker.trusted ? " --trusted" : "", worker.name, tls_options(plan.tls));
  }
  return ExitCode::Done;
}

std::unique_ptr<remote::CoordinatorTransport> connected(const BrokerOptions& options) {
  try {
    return remote::nats_transports().coordinator(address_of(options),
                                                 remote::random_secret().substr(0, 32));
  } catch (const remote::BrokerRefused& error) {
    throw NotPermitted(error.what(), error.remedy());
  }
}

ExitCode show_workers(const BrokerOptions& options) {
  const auto transport = connected(options);
  remote::WorkerRoster roster("");
  transport->ask_workers();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  roster.update(*transport);
  const auto live = roster.live();
  for (const remote::WorkerRoster::Worker& worker : live) {
    std::cout << worker_line(worker) << '\n';
  }
  if (live.empty()) {
    std::cout << "no worker has answered in a second\n";
  }
  return live.empty() ? ExitCode::Failure : ExitCode::Done;
}

ExitCode forget(const BrokerOptions& options) {
  const auto transport = connected(options);
  transport->prepare(options.pool);
  transport->set_pool_rules(options.pool, "");
  std::cout << fmt::format("the next coordinator of the pool '{}' decides what the pool has\n",
                           options.pool);
  return ExitCode::Done;
}

void add_init(CLI::App& broker, Action& chosen) {
  const auto [sub, command] = add_command(
      broker, chosen, "init",
      "Write the configuration of a NATS broker: a user with few rights for each worker, "
      "random passwords, and a file with its password for each user",
      init);
  sub.add_option("-o,--output", command.output, "folder for the files, mode 0700");
  sub.add_option("--listen", command.listen,
                 "address of the broker; others than 127.0.0.1 need TLS or a network of your own")
      ->type_name("HOST:PORT");
  sub.add_option("--worker", command.workers,
                 "a worker that must not know the held-out shapes of tasks, and its pool; may be "
                 "repeated")
      ->type_name("NAME[@POOL]");
  sub.add_option("--trusted-worker", command.trusted,
                 "a worker that also holds finals; may be repeated")
      ->type_name("NAME[@POOL]");
  sub.add_option("--tls-certificate", command.tls.certificate,
                 "PEM file with the certificate of the broker: clients then use tls://")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  sub.add_option("--tls-key", command.tls.key,
                 "PEM file with its private key; only its owner may read the file")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  sub.add_option("--tls-client-ca", command.tls.client_ca,
                 "PEM file: clients need a certificate that this one has signed")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
}

void add_with_broker(CLI::App& broker, Action& chosen, const char* name, const char* help,
                     ExitCode (*act)(const BrokerOptions&)) {
  const auto [sub, options] = add_command(broker, chosen, name, help, act);
  add_broker_options(sub, options);
  sub.get_option("--broker")->required();
}

} // namespace

void add_broker(CLI::App& app, Action& chosen) {
  CLI::App* sub = app.add_subcommand(
      "broker", "Set up the NATS broker between coordinators and workers (docs/distributed.md)");
  sub->require_subcommand(1);
  add_init(*sub, chosen);
  add_with_broker(*sub, chosen, "workers", "List the workers that are alive (exit code 1: none)",
                  show_workers);
  add_with_broker(*sub, chosen, "forget",
                  "Let the pool have other devices, isolation and PyTorch from now on", forget);
}

} // namespace winnow::harness
