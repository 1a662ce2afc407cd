#pragma once

#include "base/files.h"
#include "process/child_process.h"
#include "remote/broker_config.h"
#include "remote/job_transport.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace winnow::remote::test {

/// A real nats-server on the loopback interface, with the configuration that `winnow broker init`
/// writes. The only fake is its place: a temporary folder.
class NatsServerFake {
public:
  /// Why this machine cannot have one (no nats-server, no libnats); empty: it can.
  static std::string why_not();

  explicit NatsServerFake(std::vector<WorkerIdentity> workers, const BrokerTls& tls = {});
  ~NatsServerFake();
  NatsServerFake(const NatsServerFake&) = delete; // owns the server
  NatsServerFake& operator=(const NatsServerFake&) = delete;

  void kill(); ///< as `kill -9` does
  /// Starts it again on the same port. `empty`: it has lost all that it stored.
  void restart(bool empty);

  std::string url() const;
  int process_id() const;
  std::filesystem::path folder() const { return folder_.path(); } ///< with store and credentials
  BrokerAddress address_of(const std::string& user) const;
  /// The file that --broker-credentials takes.
  std::string credentials_file(const std::string& user) const;

private:
  void start();

  bool has_tls_ = false;

  TemporaryDirectory folder_{"nats"};
  int port_ = 0;
  std::unique_ptr<process::ChildProcess> server_;
};

} // namespace winnow::remote::test
