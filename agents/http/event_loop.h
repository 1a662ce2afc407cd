#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include <curl/curl.h>

namespace winnow::agents {

/// Drives a curl multi handle by epoll, so that each event costs the same however many transfers
/// are in flight. With curl_multi_poll() each event costs more the more transfers there are: 256
/// streams of 25 events a second take 14 % of a core instead of 10 % (endpoint_bench). One thread
/// runs it; wake() may be called from any.
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
