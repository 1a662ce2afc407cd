#include "harness/serve/http/socket_file.h"

#include "base/error.h"

#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;
using boost::asio::local::stream_protocol;

constexpr std::size_t kLongestSocketPath = sizeof(sockaddr_un::sun_path) - 1;
constexpr mode_t kOthersNothing = 0177;

/// Makes room for the socket.
void clear_place(const fs::path& path) {
  if (path.native().size() > kLongestSocketPath) {
    throw UsageError(
        fmt::format("--socket {}: the path has {} bytes; the path of a socket may have {}",
                    path.native(), path.native().size(), kLongestSocketPath),
        "choose a shorter path, for instance in /tmp");
  }
  const fs::file_status status = fs::symlink_status(path);
  if (!fs::exists(status)) {
    return;
  }
  if (status.type() != fs::file_type::socket) {
    throw UsageError("--socket " + path.native() + ": there is something that is no socket",
                     "choose another path");
  }
  boost::asio::io_context io;
  stream_protocol::socket probe(io);
  boost::system::error_code refused;
  probe.connect(stream_protocol::endpoint(path.native()), refused);
  if (!refused) {
    throw Error("another server listens at " + path.native(),
                "stop it, or choose another path with --socket");
  }
  fs::remove(path);
}

} // namespace

SocketFile::SocketFile(boost::asio::io_context& io, fs::path path)
    : acceptor(io), path_(std::move(path)) {
  clear_place(path_);
  const mode_t before = umask(kOthersNothing);
  boost::system::error_code problem;
  acceptor.open(stream_protocol(), problem);
  if (!problem) {
    acceptor.bind(stream_protocol::endpoint(path_.native()), problem);
  }
  umask(before);
  if (!problem) {
    acceptor.listen(boost::asio::socket_base::max_listen_connections, problem);
  }
  if (problem) {
    throw Error("cannot listen at " + path_.native() + ": " + problem.message(),
                "choose another path with --socket");
  }
}

SocketFile::~SocketFile() {
  std::error_code ignored;
  fs::remove(path_, ignored);
}

} // namespace winnow::harness
