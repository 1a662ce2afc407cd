#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include <curl/curl.h>

namespace winnow::agents {

/// Drives a curl multi handle with epoll, so that the cost of an event does not depend on the
/// number of transfers in flight. One thread runs the loop; any thread may call wake().
class EventLoop {
public:
  using Clock = std::chrono::steady_clock;

  EventLoop(); ///< throws Error when the system is out of descriptors or memory
  ~EventLoop();
  EventLoop(const EventLoop&) = delete; // owns descriptors
  EventLoop& operator=(const EventLoop&) = delete;

  CURLM* multi() const { return multi_.get(); }
  /// Waits for an event, curl's own timer, wake() or the deadline, whichever comes first. Then lets
  /// curl handle the event.
  void run_once(Clock::time_point deadline);
  void wake();

private:
  struct MultiDeleter {
    void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
  };
  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* user, void* known);
  static int on_timer(CURLM* multi, long milliseconds, void* user);
  void act(curl_socket_t socket, int events);

  int epoll_ = -1;
  int wake_ = -1;                        ///< an eventfd
  std::optional<Clock::time_point> due_; ///< curl's timer
  std::unique_ptr<CURLM, MultiDeleter> multi_;
};

} // namespace winnow::agents
