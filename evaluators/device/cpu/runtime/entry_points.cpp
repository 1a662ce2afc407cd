#include "evaluators/device/cpu/runtime/entry_points.h"

#include "evaluators/device/cpu/abi.h"
#include "evaluators/device/cpu/runtime/block_scheduler.h"

#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstring>

using winnow::evaluators::cpu::BlockScheduler;

namespace {

// Limits, because a kernel may print in every thread.
constexpr long kShownBytes = 64L << 10;
constexpr long kMaxPrintedBytes = 1L << 20;
std::atomic<long> g_printed_bytes{0};

/// Whether printf would store the number of printed bytes through a pointer.
bool has_percent_n(const char* format) {
  for (const char* at = std::strchr(format, '%'); at != nullptr; at = std::strchr(at, '%')) {
    at += 1 + std::strspn(at + 1, "0123456789-+ #'.*$hlLqjzt");
    if (*at == 'n') {
      return true;
    }
    at += *at != 0 ? 1 : 0;
  }
  return false;
}

} // namespace

namespace winnow::evaluators::cpu {

void link_entry_points() {}

} // namespace winnow::evaluators::cpu

extern "C" {

void* winnow_dynamic_shared() {
  return BlockScheduler::current()->dynamic_shared();
}

int winnow_barrier(int kind, int predicate, const char* op, int line) {
  return BlockScheduler::current()->barrier(kind, predicate, op, line);
}

const WinnowGather* winnow_gather(unsigned mask, unsigned long long value, int op_id,
                                  const char* op, int line) {
  return BlockScheduler::current()->gather(mask, value, op_id, op, line);
}

unsigned winnow_active_mask(const char* op, int line) {
  return BlockScheduler::current()->active_mask(op, line);
}

void winnow_grid_barrier(int line) {
  BlockScheduler::current()->grid_barrier(line);
}

void winnow_yield(int line) {
  BlockScheduler::current()->yield(line);
}

int winnow_printf(const char* format, ...) {
  if (has_percent_n(format)) {
    BlockScheduler::current()->refuse_percent_n();
  }
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  const int written = std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  const long before = g_printed_bytes.fetch_add(written, std::memory_order_relaxed);
  if (before < kShownBytes) {
    std::fputs(text, stderr);
  } else if (before > kMaxPrintedBytes) {
    BlockScheduler::current()->stop_printing(kMaxPrintedBytes);
  }
  return written;
}

void winnow_trap(const char* what, const char*, int line) {
  BlockScheduler::current()->trap(what, line);
}

unsigned long long winnow_clock() {
  return static_cast<unsigned long long>(
      std::chrono::steady_clock::now().time_since_epoch().count());
}
}
