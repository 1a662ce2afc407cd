#include "evaluators/worker/timed_runs.h"

#include "base/random_bits.h"
#include "evaluators/timing/sampling.h"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace winnow::evaluators {
namespace {

constexpr std::uint64_t kVerifiedShare = 8; // one launch in so many, and each slot's last one
// A module that must be loaded anew for every round has launches that are not timed, too.
constexpr int kMaxRoundsOfReloading = 20;

} // namespace

TimedRuns::TimedRuns(Device& device, const RunCase& run_case, const ArenaView& arena)
    : device_(device), case_(run_case), sampling_(*run_case.sampling), arena_(arena),
      random_(random_bits()) {
  std::vector<TimedSlot> asked = sampling_.slots;
  if (asked.empty()) {
    asked.push_back({case_.seed, case_.known_outputs});
  }
  for (TimedSlot& one : asked) {
    Slot& slot = slots_.emplace_back();
    slot.runner = std::make_unique<CaseRunner>(device_, case_.plan, one.seed, slots_.size() - 1);
    slot.asked = std::move(one);
  }
}

std::optional<DeviceFault> TimedRuns::run(RunCaseReport& report) {
  if (auto fault = prepare(report)) {
    return fault;
  }
  if (auto fault = sample(report)) {
    return fault;
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].unverified) {
      verify(i, 0, report);
    }
  }
  report.outputs_known = !case_.outputs.empty() && report.timed_outputs.empty();
  auto fault = device_.verify_guards();
  for (std::size_t i = 0; i < slots_.size() && !fault; ++i) {
    fault = slots_[i].runner->verify_scratch();
  }
  return fault;
}

std::optional<DeviceFault> TimedRuns::prepare(RunCaseReport& report) {
  for (Slot& slot : slots_) {
    slot.runner->poison(random_());
    if (auto fault = slot.runner->run_prepare()) {
      return fault;
    }
  }
  report.prepare_ns = slots_.front().runner->prepare_ns();
  return std::nullopt;
}

std::optional<DeviceFault> TimedRuns::sample(RunCaseReport& report) {
  for (int rounds = 1;; ++rounds) {
    const bool reloaded = device_.reset_variables();
    if (reloaded) {
      if (auto fault = warm_again()) {
        return fault;
      }
    }
    if (auto fault = round(report)) {
      return fault;
    }
    if (!more_samples(sampling_, report.samples_ns, spent_ns_) ||
        (reloaded && rounds >= kMaxRoundsOfReloading)) {
      return std::nullopt;
    }
  }
}

std::optional<DeviceFault> TimedRuns::round(RunCaseReport& report) {
  const int warmup = std::max(sampling_.warmup, static_cast<int>(slots_.size()));
  const auto budget_ns = static_cast<double>(std::chrono::nanoseconds(sampling_.budget).count());
  std::vector<std::size_t> order(slots_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random_);
  for (const std::size_t i : order) {
    const auto start = std::chrono::steady_clock::now();
    if (auto fault = launch(slots_[i])) {
      return fault;
    }
    const auto nanoseconds = static_cast<double>(device_.elapsed().count());
    // A warm-up launch that alone exceeds the budget counts: slow kernels get no second one.
    if (++launches_ > warmup || nanoseconds > budget_ns) {
      report.samples_ns.push_back(nanoseconds);
    }
    slots_[i].unverified = true;
    if (sampling_.verify_all || random_() % kVerifiedShare == 0) {
      verify(i, static_cast<int>(slots_.size()), report);
    }
    // Poisoning, emptying caches and verifying count, too: they may take longer than the launch.
    spent_ns_ +=
        std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  }
  return std::nullopt;
}

// A module loaded anew is slow at first. The launches that take that away see inputs that no timed
// launch will see: nothing they keep is of use.
std::optional<DeviceFault> TimedRuns::warm_again() {
  for (Slot& slot : slots_) {
    slot.runner->draw(random_());
    if (auto fault = launch(slot)) {
      return fault;
    }
    slot.runner->draw(slot.asked.seed);
  }
  return std::nullopt;
}

std::optional<DeviceFault> TimedRuns::launch(Slot& slot) {
  slot.salt = random_();
  slot.runner->poison(slot.salt);
  return slot.runner->run_timed();
}

void TimedRuns::verify(std::size_t index, int spare_areas, RunCaseReport& report) {
  if (case_.outputs.empty()) {
    return;
  }
  Slot& slot = slots_[index];
  report.outputs.clear();
  for (const ArenaSlice& slice : case_.outputs) {
    report.outputs[slice.tensor] = slot.runner->checksum(slice.tensor);
  }
  ++report.verified;
  slot.unverified = false;
  const auto taken = static_cast<int>(report.timed_outputs.size());
  if (report.outputs == slot.asked.known_outputs) {
    return;
  }
  if (taken > 0 && taken + spare_areas >= sampling_.areas) {
    slot.unverified = true; // its last launch still will be
    return;
  }
  for (const ArenaSlice& slice : case_.outputs) {
    const std::uint64_t offset =
        slice.offset + static_cast<std::uint64_t>(taken) * sampling_.area_bytes;
    slot.runner->download(slice.tensor, arena_.slice(offset, slice.bytes));
  }
  report.timed_outputs.push_back({index, taken, slot.salt});
}

} // namespace winnow::evaluators
