// The coordinator's side of the escape attempts: it prepares the targets and reads the results.
#include "process/escape_attempts.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "process/fence.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace winnow::process {
namespace {

constexpr std::chrono::seconds kPatience{30};
constexpr unsigned kMaxProcesses = 64;
// The same limit as a candidate's run, which writes no files
constexpr std::uint64_t kFileBytes = 1;

/// A server on the loopback interface. The child must not be able to connect to it.
class Listener {
public:
  Listener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    if (!socket_ || bind(socket_.get(), any, size) != 0 || listen(socket_.get(), 1) != 0 ||
        getsockname(socket_.get(), any, &size) != 0) {
      throw Error("no server can be started on the loopback interface");
    }
    port_ = ntohs(address.sin_port);
  }
  int port() const { return port_; }

private:
  UniqueFd socket_;
  int port_ = 0;
};

EscapeAttempt parse_attempt(std::string_view line) {
  const std::size_t name = line.find('\t');
  const std::size_t outcome = line.find('\t', name + 1);
  if (name == line.npos || outcome == line.npos) {
    throw Error("unexpected line from the child that tries to escape: " +
                truncate_text(to_valid_utf8(line), 200));
  }
  return {std::string(line.substr(0, name)), line.substr(name + 1, outcome - name - 1) == kStopped,
          std::string(line.substr(outcome + 1))};
}

} // namespace

std::vector<EscapeAttempt> try_to_escape(Isolation level) {
  if (const Availability& works = probe_isolation().at(level); !works.ok) {
    throw Error(fmt::format("{} does not work here: {}", to_string(level), works.why),
                works.remedy);
  }
  const TemporaryDirectory hidden("escape-hidden");
  const TemporaryDirectory open("escape");
  const std::filesystem::path secret = hidden.path() / "secret";
  const std::filesystem::path module = open.path() / "module";
  write_file_atomic(secret, "secret");
  write_file_atomic(module, "module");
  const Listener listener;
  const volatile std::uint64_t word = 0x5ec2e7; // a word in the coordinator's memory
  ProcessLimits limits;
  limits.wall = kPatience;
  limits.processes = kMaxProcesses;
  limits.file_bytes = kFileBytes;
  const std::string address = std::to_string(reinterpret_cast<std::uintptr_t>(&word));
  const ChildResult result =
      run_child(Sandbox(level, executable_path())
                    .command("_escape",
                             {secret.string(), module.string(), std::to_string(listener.port()),
                              std::to_string(getpid()), address},
                             candidate_policy(module), limits),
                "");
  if (result.end != ChildResult::End::Exited || result.exit_code != 0) {
    throw Error("the child that tries to escape " + describe(result) + ": " +
                truncate_text(to_valid_utf8(trim(result.err)), 300));
  }
  std::vector<EscapeAttempt> attempts;
  for (const std::string_view line : split_lines(result.out)) {
    if (!line.empty()) {
      attempts.push_back(parse_attempt(line));
    }
  }
  return attempts;
}

} // namespace winnow::process
