#include "evaluators/device/cpu/runtime/fault_reporter.h"

#include "base/error.h"
#include "evaluators/device/cpu/cpu_device.h"
#include "evaluators/device/cpu/runtime/block_scheduler.h"
#include "evaluators/device/cpu/runtime/memory_fault.h"

#include <atomic>
#include <csignal>
#include <cstdint>

#include <fmt/format.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

namespace winnow::evaluators::cpu {
namespace {

// Large enough to replay device code.
constexpr std::size_t kSignalStackBytes = std::size_t{512} << 10;
constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};

FaultReporter* g_reporter = nullptr;
const GuardedBuffers* g_buffers = nullptr;
struct sigaction g_previous[std::size(kSignals)];
std::atomic<bool> g_reported{false};
thread_local bool t_replaying = false;

std::string_view verb_of(const void* context) {
  constexpr greg_t kWriteBit = 2; // bit in the error code of the page fault
  const auto* machine = static_cast<const ucontext_t*>(context);
  return (machine->uc_mcontext.gregs[REG_ERR] & kWriteBit) != 0 ? "writes" : "reads";
}

DeviceFault describe(const BlockScheduler& scheduler, int signal, const siginfo_t& info,
                     const void* context) {
  using tasks::Verdict;
  switch (signal) {
  case SIGFPE:
    return {Verdict::Crashed, scheduler.where() + " divides an integer by zero"};
  case SIGSEGV:
  case SIGBUS:
    if (const auto operand = operand_address(*static_cast<const ucontext_t*>(context));
        info.si_code == SI_KERNEL && operand && is_beyond_all_pages(*operand)) {
      return memory_fault(scheduler, *g_buffers,
                          reinterpret_cast<const std::byte*>(*operand), // NOLINT
                          "accesses");
    }
    if (info.si_code == SI_KERNEL || (signal == SIGBUS && info.si_code == BUS_ADRALN)) {
      return {Verdict::LaunchError,
              scheduler.where() + " makes a misaligned vector access (a float4 needs an address "
                                  "that is a multiple of 16) or uses a wild pointer"};
    }
    return memory_fault(scheduler, *g_buffers, static_cast<const std::byte*>(info.si_addr),
                        verb_of(context));
  default:
    return {Verdict::Crashed,
            fmt::format(
                "{} ends by signal {} (perhaps at the end of a non-void function without a return)",
                scheduler.where(), signal)};
  }
}

/// Finds the faulting thread of a vectorised block by running its threads one by one. The fault
/// then comes again with exact coordinates, and the nested handler reports it.
void replay(BlockScheduler& scheduler, const void* address) {
  if (!scheduler.thread_is_exact() && !t_replaying && !scheduler.stack_guard_contains(address)) {
    t_replaying = true;
    sigset_t ours;
    sigemptyset(&ours);
    for (const int signal : kSignals) {
      sigaddset(&ours, signal);
    }
    pthread_sigmask(SIG_UNBLOCK, &ours, nullptr); // with libtsan, SA_NODEFER alone is not enough
    scheduler.replay_block();
  }
}

void on_signal(int signal, siginfo_t* info, void* context) {
  BlockScheduler* scheduler = BlockScheduler::current();
  if (scheduler == nullptr || g_reporter == nullptr) {
    // Not device code: the process ends by the signal, as it would without this handler.
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
    raise(signal);
    return;
  }
  const siginfo_t first = *info;
  if (signal != SIGABRT) {
    replay(*scheduler, first.si_addr);
  }
  g_reporter->end_process(describe(*scheduler, signal, first, context));
}

} // namespace

#ifdef WINNOW_UNDER_TSAN // these files are not instrumented, so no compiler macro shows it
// Handlers of asynchronous signals may not do what on_signal does. But these signals come only from
// device code, which holds no lock of the host's allocator.
extern "C" const char* __tsan_default_options() { // NOLINT: the sanitizer's name
  return "report_signal_unsafe=0";
}
#endif

FaultReporter::FaultReporter(std::function<void(const DeviceFault&)> on_fatal,
                             const GuardedBuffers& buffers)
    : on_fatal_(std::move(on_fatal)) {
  if (g_reporter != nullptr) {
    throw Error("there is a CPU device in this process already");
  }
  g_reporter = this;
  g_buffers = &buffers;
  struct sigaction action {};
  action.sa_sigaction = &on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], &action, &g_previous[i]);
  }
}

FaultReporter::~FaultReporter() {
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], &g_previous[i], nullptr);
  }
  g_reporter = nullptr;
  g_buffers = nullptr;
}

void FaultReporter::end_process(const DeviceFault& fault) {
  if (g_reported.exchange(true)) {
    for (;;) {
      pause(); // another thread reports its fault and ends the process
    }
  }
  if (on_fatal_) {
    on_fatal_(fault);
  }
  _exit(kFaultExitCode);
}

SignalStack::SignalStack() {
  mapping_ = mmap(nullptr, kSignalStackBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping_ == MAP_FAILED) {
    throw Error("no memory for a signal stack");
  }
  stack_t stack{};
  stack.ss_sp = mapping_;
  stack.ss_size = kSignalStackBytes;
  stack_t previous{};
  if (sigaltstack(&stack, &previous) != 0) {
    munmap(mapping_, kSignalStackBytes);
    throw Error("cannot set a signal stack");
  }
  previous_ = previous.ss_sp;
  previous_bytes_ = previous.ss_size;
  previous_flags_ = previous.ss_flags;
}

SignalStack::~SignalStack() {
  stack_t stack{};
  stack.ss_sp = previous_;
  stack.ss_size = previous_bytes_;
  stack.ss_flags = previous_flags_;
  sigaltstack(&stack, nullptr);
  munmap(mapping_, kSignalStackBytes);
}

} // namespace winnow::evaluators::cpu
