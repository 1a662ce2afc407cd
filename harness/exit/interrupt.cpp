#include "harness/exit/interrupt.h"

#include "harness/exit/exit_codes.h"

#include <string_view>

#include <pthread.h>
#include <unistd.h>

namespace winnow::harness {
namespace {

// Wakes the watching thread when the object is destroyed.
constexpr int kWakeSignal = SIGUSR1;

pid_t program = 0;

void end_with_a_line(int /*signal*/) {
  constexpr std::string_view kLine = "interrupted\n";
  if (getpid() == program) { // a child that has not executed its program yet says nothing
    [[maybe_unused]] const auto ignored = write(STDERR_FILENO, kLine.data(), kLine.size());
  }
  _exit(to_int(ExitCode::Interrupted));
}

} // namespace

void end_on_interrupt() {
  program = getpid();
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) {
      continue; // nohup, or a shell's background job
    }
    action = {};
    action.sa_handler = end_with_a_line;
    sigaction(signal, &action, nullptr);
  }
}

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
