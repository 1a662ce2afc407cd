#include "harness/serve/http/http_server.h"

#include "base/error.h"
#include "harness/serve/http/connection.h"
#include "harness/serve/http/server_state.h"

#include <algorithm>
#include <charconv>
#include <exception>
#include <filesystem>
#include <thread>

#include <arpa/inet.h>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/resource.h>

namespace winnow::harness {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds kTick{250};
constexpr std::chrono::milliseconds kFarewell{300}; // for the last replies before the server ends
constexpr std::size_t kReservedFiles = 512; // for judging: children, pipes, files, the store

std::size_t open_files() {
  std::size_t count = 0;
  std::error_code problem;
  for (std::filesystem::directory_iterator at("/proc/self/fd", problem), end; !problem && at != end;
       at.increment(problem)) {
    ++count;
  }
  return count;
}

/// How many descriptors sockets may have, after the limit was raised as far as it goes.
std::size_t files_for(std::size_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return wanted;
  }
  const std::size_t used = open_files();
  limit.rlim_cur =
      std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, wanted + used + kReservedFiles));
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  const std::size_t all = limit.rlim_cur;
  const std::size_t kept = used + std::min(kReservedFiles, all / 2);
  return std::min(wanted, all > kept ? all - kept : 0);
}

/// Connections never take the descriptors that judging needs.
HttpLimits fitted(HttpLimits limits) {
  const std::size_t wanted = limits.connections + limits.strangers;
  const std::size_t files = std::max<std::size_t>(files_for(wanted), 2);
  if (files < wanted) {
    limits.strangers = std::max<std::size_t>(files * limits.strangers / wanted, 1);
    limits.connections = files - limits.strangers;
  }
  return limits;
}

void prepare(tcp::socket& socket) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
}
void prepare(asio::local::stream_protocol::socket& /*socket*/) {}

template <typename Acceptor> void accept(ServerState& state, Acceptor& acceptor) {
  acceptor.async_accept([&](error_code error, typename Acceptor::protocol_type::socket socket) {
    if (state.stopping) {
      return;
    }
    if (!error) {
      prepare(socket);
      std::make_shared<Connection>(state, std::move(socket))->begin();
      accept(state, acceptor);
      return;
    }
    // For instance no descriptor is left: try again soon.
    auto pause = std::make_shared<asio::steady_timer>(state.io, kTick);
    pause->async_wait([&state, &acceptor, pause](error_code) { accept(state, acceptor); });
  });
}

void listen_at(ServerState& state, const BindAddress& bind) {
  try {
    const tcp::endpoint endpoint(asio::ip::make_address(bind.address), bind.port);
    state.acceptor.open(endpoint.protocol());
    state.acceptor.set_option(tcp::acceptor::reuse_address(true));
    state.acceptor.bind(endpoint);
    state.acceptor.listen(); // with the longest queue that the system allows
  } catch (const boost::system::system_error& error) {
    throw Error(fmt::format("cannot listen at {} port {}: {}", bind.address, bind.port,
                            error.code().message()),
                "choose another address or port with --bind");
  }
  accept(state, state.acceptor);
}

void sweep(ServerState& state) {
  state.sweeper.expires_after(kTick);
  state.sweeper.async_wait([&state](error_code error) {
    if (!error && !state.stopping) {
      state.close_late();
      sweep(state);
    }
  });
}

void tick(ServerState& state) {
  state.ticker.expires_after(kTick);
  state.ticker.async_wait([&state](error_code error) {
    if (!error) {
      state.application.tick();
      tick(state);
    }
  });
}

/// Runs the application until it is destroyed.
class ApplicationThread {
public:
  ApplicationThread(ServerState& state, std::exception_ptr& problem)
      : state_(state), thread_([&state, &problem] {
          try {
            const auto guard = asio::make_work_guard(state.work);
            state.work.run();
          } catch (...) {
            problem = std::current_exception();
            state.io.stop();
          }
        }) {}
  ~ApplicationThread() {
    state_.work.stop();
    thread_.join();
  }
  ApplicationThread(const ApplicationThread&) = delete; // owns a thread
  ApplicationThread& operator=(const ApplicationThread&) = delete;

private:
  ServerState& state_;
  std::thread thread_;
};

} // namespace

struct HttpServer::State : ServerState {
  using ServerState::ServerState;
};

HttpServer::HttpServer(const Listening& listening, HttpApplication& application,
                       const HttpLimits& limits)
    : state_(std::make_unique<State>(application, fitted(limits))) {
  if (listening.bind) {
    listen_at(*state_, *listening.bind);
  }
  if (!listening.socket.empty()) {
    state_->socket_file.emplace(state_->io, listening.socket);
    accept(*state_, state_->socket_file->acceptor);
  }
  sweep(*state_);
  tick(*state_);
}

HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const {
  return state_->acceptor.local_endpoint().port();
}

void HttpServer::run() {
  std::exception_ptr problem;
  {
    const ApplicationThread thread(*state_, problem);
    const auto guard = asio::make_work_guard(state_->io); // stop() ends it, also without a peer
    state_->io.run();
  }
  if (problem) {
    std::rethrow_exception(problem);
  }
}

void HttpServer::stop() {
  asio::post(state_->io, [this] {
    if (std::exchange(state_->stopping, true)) {
      return;
    }
    error_code ignored;
    state_->acceptor.close(ignored);
    if (state_->socket_file) {
      state_->socket_file->acceptor.close(ignored);
    }
    state_->sweeper.cancel();
    asio::post(state_->work, [this] {
      state_->ticker.cancel();
      state_->application.end();
      state_->has_ended = true;
      asio::post(state_->io, [this] {
        auto farewell = std::make_shared<asio::steady_timer>(state_->io, kFarewell);
        farewell->async_wait([this, farewell](error_code) { state_->io.stop(); });
      });
    });
  });
}

void HttpServer::post(std::function<void()> work) {
  state_->queue.push(std::move(work));
}

void HttpServer::post(const std::string& owner, std::function<void()> work, Turn turn) {
  state_->queue.push(owner, std::move(work), turn);
}

BindAddress parse_bind_address(std::string_view text) {
  const auto bad = [&](const std::string& why) {
    return UsageError(fmt::format("--bind {}: {}", text, why),
                      "write ADDRESS:PORT, for instance 127.0.0.1:8787 or [::1]:8787");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    throw bad("there is no port");
  }
  const std::string_view digits = text.substr(colon + 1);
  BindAddress bind;
  const auto [end, problem] =
      std::from_chars(digits.data(), digits.data() + digits.size(), bind.port);
  if (digits.empty() || problem != std::errc() || end != digits.data() + digits.size()) {
    throw bad("the port is no number from 0 to 65535");
  }
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  bind.address = host == "localhost" ? "127.0.0.1" : std::string(host);
  in_addr v4{};
  in6_addr v6{};
  if (inet_pton(AF_INET, bind.address.c_str(), &v4) == 1) {
    bind.is_loopback = ntohl(v4.s_addr) >> 24U == 127;
  } else if (inet_pton(AF_INET6, bind.address.c_str(), &v6) == 1) {
    bind.is_loopback = IN6_IS_ADDR_LOOPBACK(&v6);
  } else {
    throw bad("the address is neither IPv4 nor IPv6");
  }
  return bind;
}

} // namespace winnow::harness
