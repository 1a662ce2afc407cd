#include "tests/fake_endpoint/http_server.h"

#include "tests/fake_endpoint/socket.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace winnow::tests {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBacklog = 1024;
constexpr std::size_t kReceiveBytes = 64U << 10U;

struct Connection {
  Connection(UniqueFd fd, const TlsIdentity* tls) : socket(std::move(fd), tls) {}
  Socket socket;
  std::string in;
  std::string out; ///< bytes of the step that is being written
  std::size_t sent = 0;
  std::optional<Response> response;
  std::optional<Step> step; ///< the next step, until its time has come
  std::optional<Clock::time_point> due;
  bool polled_for_write = false;
};

UniqueFd checked(int fd, const char* call) {
  if (fd < 0) {
    throw std::runtime_error(std::string(call) + ": " + std::strerror(errno));
  }
  return UniqueFd(fd);
}

UniqueFd listen_anywhere() {
  UniqueFd fd = checked(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), kBacklog) != 0) {
    throw std::runtime_error("the fake endpoint cannot listen on 127.0.0.1: " +
                             std::string(std::strerror(errno)));
  }
  return fd;
}

int port_of(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

Response explain(const std::string& what) {
  const std::string text = "the fake endpoint's script failed: " + what + "\n";
  Step step;
  step.bytes =
      "HTTP/1.1 500 Internal Server Error\r\nContent-Type: text/plain\r\nContent-Length: " +
      std::to_string(text.size()) + "\r\n\r\n" + text;
  return in_order({step}, Response::Then::Close);
}

} // namespace

Response in_order(std::vector<Step> steps, Response::Then then) {
  return {[steps = std::move(steps), next = std::size_t{0}]() mutable -> std::optional<Step> {
            return next < steps.size() ? std::optional(std::move(steps[next++])) : std::nullopt;
          },
          then};
}

struct HttpServer::State {
  State(Handler chosen, const Options& options)
      : handler(std::move(chosen)), listener(listen_anywhere()),
        poll(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
        stop(checked(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd")) {
    if (!options.certificate_file.empty()) {
      tls.emplace(options.certificate_file, options.key_file);
    }
    watch(EPOLL_CTL_ADD, listener.get(), EPOLLIN);
    watch(EPOLL_CTL_ADD, stop.get(), EPOLLIN);
  }

  void watch(int operation, int fd, std::uint32_t events) const {
    epoll_event event{};
    event.events = events;
    event.data.fd = fd;
    epoll_ctl(poll.get(), operation, fd, &event);
  }

  void run();
  int poll_timeout() const;
  void accept_all();
  /// false: drop the connection; the same for the next functions
  bool receive(Connection& connection);
  bool take_requests(Connection& connection);
  bool send_steps(Connection& connection);
  bool send_out(Connection& connection);
  bool fetch_step(Connection& connection);
  void set_due(Connection& connection, std::optional<Clock::time_point> due);
  void serve(int fd, bool readable);
  void drop(int fd);

  Handler handler;
  std::optional<TlsIdentity> tls;
  UniqueFd listener, poll, stop;
  std::atomic<std::size_t> accepted{0};
  std::map<int, Connection> connections;
  std::set<std::pair<Clock::time_point, int>> timers; ///< time and descriptor of a connection
  std::thread thread;
};

int HttpServer::State::poll_timeout() const {
  if (timers.empty()) {
    return -1;
  }
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(timers.begin()->first - Clock::now());
  return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
}

void HttpServer::State::run() {
  sigset_t pipe; // OpenSSL writes without MSG_NOSIGNAL
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  std::array<epoll_event, 256> events{};
  for (;;) {
    const int count =
        epoll_wait(poll.get(), events.data(), static_cast<int>(events.size()), poll_timeout());
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      if (event.data.fd == stop.get()) {
        return;
      }
      if (event.data.fd == listener.get()) {
        accept_all();
      } else {
        serve(event.data.fd, (event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0);
      }
    }
    for (const auto now = Clock::now(); !timers.empty() && timers.begin()->first <= now;) {
      const int fd = timers.begin()->second;
      set_due(connections.at(fd), std::nullopt);
      serve(fd, false);
    }
  }
}

void HttpServer::State::accept_all() {
  for (;;) {
    UniqueFd fd(accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd.get() < 0) {
      return;
    }
    ++accepted;
    const int number = fd.get();
    connections.emplace(std::piecewise_construct, std::forward_as_tuple(number),
                        std::forward_as_tuple(std::move(fd), tls ? &*tls : nullptr));
    watch(EPOLL_CTL_ADD, number, EPOLLIN);
  }
}

void HttpServer::State::serve(int fd, bool readable) {
  const auto found = connections.find(fd);
  if (found == connections.end()) { // an earlier event of the same round dropped the connection
    return;
  }
  Connection& connection = found->second;
  bool alive = false;
  try {
    alive = (!readable || receive(connection)) && send_steps(connection);
  } catch (const std::exception&) { // not HTTP: drop the connection
  }
  if (!alive) {
    drop(fd);
  }
}

void HttpServer::State::drop(int fd) {
  const auto found = connections.find(fd);
  set_due(found->second, std::nullopt);
  connections.erase(found); // closing the socket also removes it from epoll
}

bool HttpServer::State::receive(Connection& connection) {
  std::array<char, kReceiveBytes> buffer;
  for (;;) {
    const Socket::Moved moved = connection.socket.receive(buffer.data(), buffer.size());
    if (moved.state != Socket::State::Ok) {
      return moved.state == Socket::State::WouldBlock && take_requests(connection);
    }
    connection.in.append(buffer.data(), moved.bytes);
  }
}

bool HttpServer::State::take_requests(Connection& connection) {
  if (connection.response || connection.in.empty()) {
    return true;
  }
  const RequestProgress progress = take_request(connection.in);
  if (progress.expects_continue) {
    connection.out += "HTTP/1.1 100 Continue\r\n\r\n";
  }
  if (progress.request) {
    try {
      connection.response = handler(*progress.request);
    } catch (const std::exception& failure) {
      connection.response = explain(failure.what());
    }
  }
  return true;
}

void HttpServer::State::set_due(Connection& connection, std::optional<Clock::time_point> due) {
  const int fd = connection.socket.fd();
  if (connection.due) {
    timers.erase({*connection.due, fd});
  }
  connection.due = due;
  if (due) {
    timers.emplace(*due, fd);
  }
}

/// Returns whether everything has been written. Throws if the connection has closed.
bool HttpServer::State::send_out(Connection& connection) {
  while (connection.sent < connection.out.size()) {
    const Socket::Moved moved =
        connection.socket.send(std::string_view(connection.out).substr(connection.sent));
    if (moved.state == Socket::State::Closed) {
      throw std::runtime_error("closed");
    }
    const bool blocked = moved.state == Socket::State::WouldBlock;
    if (blocked != connection.polled_for_write) {
      connection.polled_for_write = blocked;
      watch(EPOLL_CTL_MOD, connection.socket.fd(), blocked ? EPOLLIN | EPOLLOUT : EPOLLIN);
    }
    if (blocked) {
      return false;
    }
    connection.sent += moved.bytes;
  }
  connection.out.clear();
  connection.sent = 0;
  return true;
}

/// Returns whether there are bytes to write now.
bool HttpServer::State::fetch_step(Connection& connection) {
  if (!connection.step) {
    connection.step = connection.response->next();
    if (!connection.step) {
      return false;
    }
    if (connection.step->wait.count() > 0) {
      set_due(connection, Clock::now() + connection.step->wait);
    }
  }
  if (connection.due) {
    return false;
  }
  if (connection.step->before_write) {
    connection.step->before_write(connection.step->bytes);
  }
  connection.out = std::move(connection.step->bytes);
  connection.step.reset();
  return true;
}

bool HttpServer::State::send_steps(Connection& connection) {
  for (;;) {
    if (!send_out(connection) || !connection.response) {
      return true;
    }
    if (fetch_step(connection)) {
      continue;
    }
    if (connection.step || connection.response->then == Response::Then::SaySilence) {
      return true;
    }
    if (connection.response->then == Response::Then::Close) {
      return false;
    }
    connection.response.reset();
    take_requests(connection); // a request may have come together with the last one
  }
}

HttpServer::HttpServer(Handler handler, const Options& options)
    : state_(new State(std::move(handler), options)) {
  state_->thread = std::thread([this] { state_->run(); });
}

HttpServer::~HttpServer() {
  const std::uint64_t one = 1;
  if (::write(state_->stop.get(), &one, sizeof one) == sizeof one) {
    state_->thread.join();
  }
}

int HttpServer::port() const {
  return port_of(state_->listener.get());
}

std::size_t HttpServer::accepted() const {
  return state_->accepted;
}

} // namespace winnow::tests
