#include "remote/checking_threads.h"

#include <functional>
#include <iterator>
#include <string>
#include <utility>

namespace winnow::remote {

CheckingThreads::CheckingThreads(Check check) : check_(std::move(check)) {
  for (int i = 0; i < kThreads; ++i) {
    Checker& checker = checkers_.emplace_back();
    checker.thread = std::thread([this, &checker] { work(checker); });
  }
}

CheckingThreads::~CheckingThreads() {
  stop();
}

void CheckingThreads::post(ArrivedResult result) {
  const std::size_t lot = std::hash<std::string>()(result.job) % kThreads;
  Checker& checker = *std::next(checkers_.begin(), static_cast<std::ptrdiff_t>(lot));
  {
    std::unique_lock lock(mutex_);
    checker.changed.wait(lock, [&] { return stopping_ || checker.waiting.size() < kMostWaiting; });
    if (stopping_) {
      return;
    }
    checker.waiting.push_back(std::move(result));
  }
  checker.changed.notify_all();
}

void CheckingThreads::work(Checker& checker) {
  for (;;) {
    ArrivedResult result;
    {
      std::unique_lock lock(mutex_);
      checker.changed.wait(lock, [&] { return stopping_ || !checker.waiting.empty(); });
      if (stopping_) {
        return;
      }
      result = std::move(checker.waiting.front());
      checker.waiting.pop_front();
    }
    checker.changed.notify_all();
    check_(result);
  }
}

void CheckingThreads::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  for (Checker& checker : checkers_) {
    checker.changed.notify_all();
    if (checker.thread.joinable()) {
      checker.thread.join();
    }
  }
}

} // namespace winnow::remote
