#pragma once

#include "base/unique_fd.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct ssl_st;
struct ssl_ctx_st;

namespace winnow::tests {

/// A certificate and its key for a server that speaks TLS.
class TlsIdentity {
public:
  /// Both files are PEM. Throws std::runtime_error if they cannot be used.
  TlsIdentity(const std::string& certificate_file, const std::string& key_file);
  ssl_ctx_st* context() const { return context_.get(); }

private:
  struct Deleter {
    void operator()(ssl_ctx_st* context) const;
  };
  std::unique_ptr<ssl_ctx_st, Deleter> context_;
};

/// An accepted connection, plain or TLS, whose calls never block.
class Socket {
public:
  enum class State { Ok, WouldBlock, Closed };
  struct Moved {
    State state = State::Closed;
    std::size_t bytes = 0; ///< at least 1 if Ok
  };

  Socket(UniqueFd fd, const TlsIdentity* tls);
  int fd() const { return fd_.get(); }
  Moved receive(char* buffer, std::size_t size);
  Moved send(std::string_view bytes); ///< `bytes` must not be empty

private:
  struct Deleter {
    void operator()(ssl_st* session) const;
  };
  UniqueFd fd_;
  std::unique_ptr<ssl_st, Deleter> session_;
};

} // namespace winnow::tests
