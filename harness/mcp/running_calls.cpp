#include "harness/mcp/running_calls.h"

#include "base/error.h"

#include <system_error>
#include <utility>

namespace winnow::harness {

RunningCalls::~RunningCalls() {
  for (Call& call : calls_) {
    call.cancelled = true;
  }
  wait();
}

void RunningCalls::wait() {
  for (Call& call : calls_) {
    call.thread.join();
  }
  calls_.clear();
}

void RunningCalls::forget_ended() {
  calls_.remove_if([](Call& call) {
    const bool ended = call.ended;
    if (ended) {
      call.thread.join();
    }
    return ended;
  });
}

bool RunningCalls::has(const nlohmann::json& id) {
  forget_ended();
  for (const Call& call : calls_) {
    if (call.id == id) {
      return true;
    }
  }
  return false;
}

bool RunningCalls::is_full() {
  forget_ended();
  return calls_.size() >= most_;
}

void RunningCalls::start(const nlohmann::json& id, Work work) {
  Call& call = calls_.emplace_back();
  call.id = id;
  try {
    call.thread = std::thread([&call, work = std::move(work)] {
      work([&call] { return !call.cancelled; });
      call.ended = true;
    });
  } catch (const std::system_error&) {
    calls_.pop_back();
    throw Error("no thread can be started for the call",
                "raise the limit on processes (ulimit -u)");
  }
}

void RunningCalls::cancel(const nlohmann::json& id) {
  for (Call& call : calls_) {
    if (call.id == id) {
      call.cancelled = true;
    }
  }
}

} // namespace winnow::harness
