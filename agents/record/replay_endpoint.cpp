#include "agents/record/replay_endpoint.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

constexpr double kMaxLatencySeconds = 86400; // a larger value could overflow the clock's range

} // namespace

ReplayEndpoint::ReplayEndpoint(std::vector<RecordedCall> calls, int parallel, double latency_scale)
    : parallel_(static_cast<std::size_t>(std::max(parallel, 1))), latency_scale_(latency_scale) {
  for (RecordedCall& call : calls) {
    replies_.emplace(std::pair(std::move(call.key), std::move(call.device)), std::move(call.reply));
  }
  thread_ = std::thread([this] { serve(); });
}

ReplayEndpoint::~ReplayEndpoint() {
  cancel_all();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ReplayEndpoint::start(ModelRequest request, std::function<void(ModelReply)> done) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(
        {std::move(request.key), std::move(request.device), std::move(done), {}, false});
  }
  changed_.notify_all();
}

void ReplayEndpoint::cancel_all() {
  {
    const std::lock_guard lock(mutex_);
    std::move(waiting_.begin(), waiting_.end(), std::back_inserter(in_flight_));
    waiting_.clear();
    for (Call& call : in_flight_) {
      call.cancelled = true;
      call.due = {};
    }
  }
  changed_.notify_all();
}

void ReplayEndpoint::admit() {
  while (in_flight_.size() < parallel_ && !waiting_.empty()) {
    Call call = std::move(waiting_.front());
    waiting_.pop_front();
    const ModelReply* reply = recorded(call);
    double seconds = reply == nullptr ? 0 : reply->seconds * latency_scale_;
    seconds = std::clamp(seconds, 0.0, kMaxLatencySeconds);
    call.due = Clock::now() +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    in_flight_.push_back(std::move(call));
  }
}

bool ReplayEndpoint::take_due(Call& call, std::unique_lock<std::mutex>& lock) {
  for (;;) {
    admit();
    const auto next = std::min_element(in_flight_.begin(), in_flight_.end(),
                                       [](const Call& a, const Call& b) { return a.due < b.due; });
    if (next == in_flight_.end()) {
      if (stopping_) {
        return false;
      }
      changed_.wait(lock);
    } else if (const auto due = next->due; due > Clock::now()) {
      changed_.wait_until(lock, due);
    } else {
      call = std::move(*next);
      in_flight_.erase(next);
      return true;
    }
  }
}

void ReplayEndpoint::serve() {
  std::unique_lock lock(mutex_);
  Call call;
  while (take_due(call, lock)) {
    lock.unlock(); // `done` may call start()
    call.done(answer(call));
    call = {};
    lock.lock();
  }
}

ModelReply ReplayEndpoint::answer(const Call& call) const {
  ModelReply none;
  if (call.cancelled) {
    none.status = ModelReply::Status::Cancelled;
    none.error = "cancelled";
    return none;
  }
  if (const ModelReply* reply = recorded(call)) {
    return *reply;
  }
  none.status = ModelReply::Status::Exhausted;
  none.error = fmt::format("the recording has no reply for '{}'", call.key);
  return none;
}

const ModelReply* ReplayEndpoint::recorded(const Call& call) const {
  for (const std::string& device : {call.device, std::string()}) {
    if (const auto found = replies_.find({call.key, device}); found != replies_.end()) {
      return &found->second;
    }
  }
  return nullptr;
}

} // namespace winnow::agents
