#include "remote/testing/nats_server_fake.h"

#include "remote/broker_credentials.h"
#include "remote/transport_library.h"

#include <chrono>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace winnow::remote::test {
namespace {

std::string server_program() {
  for (const char* path :
       {"/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"}) {
    if (is_file(path)) {
      return path;
    }
  }
  return {};
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool bound = bind(socket, generic, size) == 0 && getsockname(socket, generic, &size) == 0;
  close(socket);
  if (!bound) {
    throw Error("no free port on the loopback interface");
  }
  return ntohs(address.sin_port);
}

bool answers(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = loopback(port);
  const bool connected =
      connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(socket);
  return connected;
}

} // namespace

std::string NatsServerFake::why_not() {
  if (server_program().empty()) {
    return "nats-server is not installed (scripts/install-packages.sh --tests)";
  }
  return probe_nats().why;
}

NatsServerFake::NatsServerFake(std::vector<WorkerIdentity> workers, const BrokerTls& tls)
    : has_tls_(!tls.certificate.empty()), port_(free_port()) {
  BrokerPlan plan;
  plan.listen = fmt::format("127.0.0.1:{}", port_);
  plan.store_folder = (folder_.path() / "store").string();
  plan.workers = std::move(workers);
  plan.tls = tls;
  write_private_files(folder_.path(), broker_files(plan));
  start();
}

NatsServerFake::~NatsServerFake() = default;

void NatsServerFake::start() {
  process::Command command;
  command.argv = {server_program(), "-c", (folder_.path() / "nats.conf").string(), "-l",
                  (folder_.path() / "log").string()};
  command.limits.wall = std::chrono::hours(1);
  server_ = std::make_unique<process::ChildProcess>(command);
  for (int i = 0; i < 500; ++i) {
    if (answers(port_)) {
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  throw Error("nats-server does not answer: " + read_file(folder_.path() / "log", 1U << 20U));
}

void NatsServerFake::kill() {
  server_->kill();
  server_->wait();
}

void NatsServerFake::restart(bool empty) {
  if (empty) {
    std::filesystem::remove_all(folder_.path() / "store");
  }
  start();
}

std::string NatsServerFake::url() const {
  return fmt::format("{}://127.0.0.1:{}", has_tls_ ? "tls" : "nats", port_);
}

int NatsServerFake::process_id() const {
  return server_->pid();
}

std::string NatsServerFake::credentials_file(const std::string& user) const {
  return (folder_.path() / (user + ".credentials")).string();
}

BrokerAddress NatsServerFake::address_of(const std::string& user) const {
  return broker_address(url(), {credentials_file(user)});
}

} // namespace winnow::remote::test
