#include "tests/fake_endpoint/socket.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <stdexcept>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

namespace winnow::tests {
namespace {

Socket::Moved moved(ssize_t count) {
  if (count > 0) {
    return {Socket::State::Ok, static_cast<std::size_t>(count)};
  }
  const bool later = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
  return {later ? Socket::State::WouldBlock : Socket::State::Closed, 0};
}

Socket::Moved moved(ssl_st* session, int count) {
  if (count > 0) {
    return {Socket::State::Ok, static_cast<std::size_t>(count)};
  }
  const int why = SSL_get_error(session, count);
  ERR_clear_error();
  const bool later = why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE;
  return {later ? Socket::State::WouldBlock : Socket::State::Closed, 0};
}

int capped(std::size_t size) {
  return static_cast<int>(std::min(size, std::size_t{INT_MAX}));
}

} // namespace

void TlsIdentity::Deleter::operator()(ssl_ctx_st* context) const {
  SSL_CTX_free(context);
}
void Socket::Deleter::operator()(ssl_st* session) const {
  SSL_free(session);
}

TlsIdentity::TlsIdentity(const std::string& certificate_file, const std::string& key_file)
    : context_(SSL_CTX_new(TLS_server_method())) {
  if (!context_ ||
      SSL_CTX_use_certificate_chain_file(context_.get(), certificate_file.c_str()) != 1 ||
      SSL_CTX_use_PrivateKey_file(context_.get(), key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    throw std::runtime_error(certificate_file + " and " + key_file +
                             " are no certificate and its key in PEM form");
  }
  SSL_CTX_set_mode(context_.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

Socket::Socket(UniqueFd fd, const TlsIdentity* tls) : fd_(std::move(fd)) {
  const int on = 1; // sends the bytes of a step at once, as a separate segment
  setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (tls != nullptr) {
    session_.reset(SSL_new(tls->context()));
    if (!session_ || SSL_set_fd(session_.get(), fd_.get()) != 1) {
      throw std::runtime_error("a TLS session cannot be made");
    }
    SSL_set_accept_state(session_.get());
  }
}

Socket::Moved Socket::receive(char* buffer, std::size_t size) {
  if (session_) {
    return moved(session_.get(), SSL_read(session_.get(), buffer, capped(size)));
  }
  return moved(::recv(fd_.get(), buffer, size, 0));
}

Socket::Moved Socket::send(std::string_view bytes) {
  if (session_) {
    return moved(session_.get(), SSL_write(session_.get(), bytes.data(), capped(bytes.size())));
  }
  return moved(::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

} // namespace winnow::tests
