#include "evaluators/device/gpu/gpu_wait.h"

#include <thread>

#include <fmt/format.h>
#include <unistd.h>

namespace winnow::evaluators::gpu {

void Waiter::wait(const std::string& where, Clock::time_point start) {
  constexpr std::chrono::microseconds kSpin{2000}; // drawing inputs and most kernels take less
  constexpr std::chrono::microseconds kNap{50};
  const auto spin_until = Clock::now() + kSpin;
  while (!driver_.idle()) {
    if (deadline_.count() > 0 && Clock::now() - start > deadline_) {
      if (on_fatal_) {
        on_fatal_({tasks::Verdict::Timeout,
                   fmt::format("ran longer than {} ms; now in {}", deadline_.count(), where)});
      }
      _exit(kFaultExitCode);
    }
    if (Clock::now() > spin_until) {
      std::this_thread::sleep_for(kNap);
    }
  }
}

} // namespace winnow::evaluators::gpu
