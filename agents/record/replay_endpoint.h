#pragma once

#include "agents/model/model_endpoint.h"
#include "agents/record/recording.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace winnow::agents {

/// Answers each key with its recorded reply for the device of the request, otherwise with the one
/// for any device. Serves at most `parallel` calls at a time; each takes
/// its recorded seconds times the latency scale. A recorded failure fails again; a key without a
/// recorded reply is Exhausted.
class ReplayEndpoint final : public ModelEndpoint {
public:
  ReplayEndpoint(std::vector<RecordedCall> calls, int parallel, double latency_scale);
  ~ReplayEndpoint() override;
  ReplayEndpoint(const ReplayEndpoint&) = delete; // owns a thread
  ReplayEndpoint& operator=(const ReplayEndpoint&) = delete;

  std::string_view kind() const override { return "replay"; }
  void start(ModelRequest request, std::function<void(ModelReply)> done) override;
  void cancel_all() override;

private:
  using Clock = std::chrono::steady_clock;
  struct Call {
    std::string key, device;
    std::function<void(ModelReply)> done;
    Clock::time_point due;
    bool cancelled = false;
  };

  void serve();
  void admit(); ///< moves waiting calls into flight; the caller holds the lock
  bool take_due(Call& call, std::unique_lock<std::mutex>& lock);
  ModelReply answer(const Call& call) const;
  const ModelReply* recorded(const Call& call) const; ///< nullptr: there is none

  std::map<std::pair<std::string, std::string>, ModelReply> replies_; ///< by key and device
  std::size_t parallel_;
  double latency_scale_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::deque<Call> waiting_;
  std::vector<Call> in_flight_;
  std::thread thread_; ///< last: it uses everything above
};

} // namespace winnow::agents
