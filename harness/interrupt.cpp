#include "harness/interrupt.h"

#include "harness/exit_codes.h"

#include <pthread.h>
#include <unistd.h>

namespace winnow::harness {
namespace {

// Wakes the watching thread when the object is destroyed.
constexpr int kWakeSignal = SIGUSR1;

} // namespace

Interrupt::Interrupt() {
  sigemptyset(&blocked_);
  sigaddset(&blocked_, SIGINT);
  sigaddset(&blocked_, SIGTERM);
  sigaddset(&blocked_, kWakeSignal);
  pthread_sigmask(SIG_BLOCK, &blocked_, &before_);
  thread_ = std::thread([this] { watch(); });
}

Interrupt::~Interrupt() {
  ending_ = true;
  pthread_kill(thread_.native_handle(), kWakeSignal);
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Interrupt::on_first(std::function<void()> act) {
  const std::lock_guard lock(mutex_);
  act_ = std::move(act);
  if (interrupted_ && act_) {
    act_();
  }
}

void Interrupt::watch() {
  for (;;) {
    int signal = 0;
    const bool failed = sigwait(&blocked_, &signal) != 0;
    if (failed || ending_) {
      return;
    }
    if (signal == kWakeSignal) {
      continue; // sent by another part of the process
    }
    const std::lock_guard lock(mutex_);
    if (interrupted_.exchange(true)) {
      _exit(to_int(ExitCode::Interrupted));
    }
    if (act_) {
      act_();
    }
  }
}

} // namespace winnow::harness
