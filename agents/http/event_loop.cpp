#include "agents/http/event_loop.h"

#include "base/error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace winnow::agents {
namespace {

constexpr std::size_t kEventsAtOnce = 256;

[[noreturn]] void fail(const char* call) {
  throw Error(fmt::format("{}: {}", call, std::generic_category().message(errno)));
}

/// Rounded up, because an early wake-up would only cause another wait.
int milliseconds_until(EventLoop::Clock::time_point time) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(time - EventLoop::Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

} // namespace

EventLoop::EventLoop() : multi_(curl_multi_init()) {
  if (!multi_) {
    throw Error("curl_multi_init failed: out of memory");
  }
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_;
  if (epoll_ < 0 || wake_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0) {
    fail("epoll");
  }
  curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, &on_socket);
  curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, &on_timer);
  curl_multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this);
}

EventLoop::~EventLoop() {
  multi_.reset(); // takes its sockets out of epoll_
  close(wake_);
  close(epoll_);
}

int EventLoop::on_socket(CURL*, curl_socket_t socket, int what, void* user, void*) {
  const int epoll = static_cast<EventLoop*>(user)->epoll_;
  if (what == CURL_POLL_REMOVE) {
    // Fails if curl has closed the socket already; no harm.
    epoll_ctl(epoll, EPOLL_CTL_DEL, socket, nullptr);
    return 0;
  }
  epoll_event event{};
  event.events =
      ((what & CURL_POLL_IN) != 0 ? EPOLLIN : 0U) | ((what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0U);
  event.data.fd = socket;
  if (epoll_ctl(epoll, EPOLL_CTL_MOD, socket, &event) != 0 && errno == ENOENT) {
    epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event);
  }
  return 0;
}

int EventLoop::on_timer(CURLM*, long milliseconds, void* user) {
  auto& due = static_cast<EventLoop*>(user)->due_;
  due.reset();
  if (milliseconds >= 0) {
    due = Clock::now() + std::chrono::milliseconds(milliseconds);
  }
  return 0;
}

void EventLoop::act(curl_socket_t socket, int events) {
  int running = 0;
  curl_multi_socket_action(multi_.get(), socket, events, &running);
}

void EventLoop::run_once(Clock::time_point deadline) {
  std::array<epoll_event, kEventsAtOnce> events{};
  const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()),
                               milliseconds_until(std::min(deadline, due_.value_or(deadline))));
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.fd == wake_) {
      std::uint64_t ignored = 0;
      [[maybe_unused]] const auto size = read(wake_, &ignored, sizeof ignored);
      continue;
    }
    act(event.data.fd, ((event.events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                           ((event.events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                           ((event.events & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0));
  }
  if (due_ && *due_ <= Clock::now()) {
    due_.reset(); // curl sets the next timer in act()
    act(CURL_SOCKET_TIMEOUT, 0);
  }
}

void EventLoop::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto size = write(wake_, &one, sizeof one);
}

} // namespace winnow::agents
