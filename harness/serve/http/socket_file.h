#pragma once

#include <filesystem>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>

namespace winnow::harness {

/// A Unix socket in the file system that only this user can connect to. Removed at the end.
class SocketFile {
public:
  /// Listens at once, in the place of a socket that nobody listens at any more. Throws UsageError
  /// for a path that is too long for a socket or is something else, Error if another server listens
  /// there.
  SocketFile(boost::asio::io_context& io, std::filesystem::path path);
  ~SocketFile();
  SocketFile(const SocketFile&) = delete; // owns the file
  SocketFile& operator=(const SocketFile&) = delete;

  boost::asio::local::stream_protocol::acceptor acceptor;

private:
  std::filesystem::path path_;
};

} // namespace winnow::harness
