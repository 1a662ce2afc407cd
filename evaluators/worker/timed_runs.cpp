#include "evaluators/worker/timed_runs.h"

#include "base/random_bits.h"
#include "evaluators/timing/race_blocks.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>
#include <utility>

namespace winnow::evaluators {
namespace {

constexpr std::uint64_t kVerifiedShare = 8; // one launch in so many, and each input's last one
// A module that must be loaded anew for every round has launches that are not timed, too.
constexpr int kMaxRoundsOfReloading = 20;
// Who may yet win is timed for so many budgets before it is called a tie.
constexpr double kBudgetsToWin = 3;
constexpr double kWorthDrawingOut = 0.995; // of the rival's speed
// A device that stays throttled is measured as it is, and the report says so.
constexpr int kMaxThrottledInARow = 8;
constexpr std::chrono::milliseconds kCoolDown{20};
constexpr int kWarmSamples = 20;
constexpr std::size_t kLeastTurns = 3; // of a round, if the kernel is that slow

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { // in ns
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

double budget_ns(const SamplingRequest& sampling) { // of one contestant
  return static_cast<double>(std::chrono::nanoseconds(sampling.budget).count());
}

profiling::StopLimits limits_of(const SamplingRequest& sampling, std::size_t contestants) {
  profiling::StopLimits limits;
  limits.min_samples = sampling.min_samples;
  limits.max_samples = sampling.max_samples;
  limits.budget_ns = budget_ns(sampling) * static_cast<double>(contestants);
  return limits;
}

// Not more than half of what sampling may take.
profiling::WarmUpLimits warm_up_limits(const SamplingRequest& sampling) {
  profiling::WarmUpLimits limits;
  limits.max_ns = budget_ns(sampling) / 2;
  return limits;
}

} // namespace

TimedRuns::TimedRuns(Device& device, const RunCase& run_case, const ArenaView& arena)
    : device_(device), case_(run_case), sampling_(*run_case.sampling), arena_(arena),
      random_(random_bits()), race_(kRaceRules) {
  std::vector<TimedSlot> asked = sampling_.slots;
  if (asked.empty()) {
    asked.push_back({case_.seed, case_.known_outputs});
  }
  for (std::size_t i = 0; i <= sampling_.rivals.size(); ++i) {
    add_contestant(asked);
  }
  add_buffers();
}

void TimedRuns::add_contestant(const std::vector<TimedSlot>& asked) {
  Contestant contestant{{},
                        {},
                        profiling::WarmUp(warm_up_limits(sampling_)),
                        profiling::StopRule(limits_of(sampling_, sampling_.rivals.size() + 1)),
                        0};
  for (const TimedSlot& one : asked) {
    contestant.slots.emplace_back().asked = one;
  }
  contestants_.push_back(std::move(contestant));
}

// Where buffers lie moves the time of a short kernel by 1 %: no contestant always gets the ones
// that are allocated first.
void TimedRuns::add_buffers() {
  const std::size_t slots = contestants_.front().slots.size();
  std::vector<std::size_t> sets(contestants_.size() * slots);
  std::iota(sets.begin(), sets.end(), std::size_t{0});
  std::shuffle(sets.begin(), sets.end(), random_);
  for (const std::size_t set : sets) {
    const std::size_t module = set / slots;
    const tasks::ResolvedPlan& plan = module == 0 ? case_.plan : sampling_.rivals[module - 1];
    Slot& slot = contestants_[module].slots[set % slots];
    slot.runner = std::make_unique<CaseRunner>(device_, plan, slot.asked.seed, set, module);
  }
}

std::optional<std::size_t> TimedRuns::running_rival() const {
  return running_ == 0 ? std::nullopt : std::optional(running_ - 1);
}

std::optional<DeviceFault> TimedRuns::run(RunCaseReport& report) {
  auto fault = prepare(report);
  fault = fault ? fault : sample(report);
  if (!fault) {
    verify_last(report);
  }
  fault = fault || !sampling_.warm ? fault : sample_warm(report);
  hand_over(report);
  if (fault) {
    report.rival = running_rival();
    return fault;
  }
  verify_last(report);
  report.outputs_known = !case_.outputs.empty() && report.timed_outputs.empty();
  report.state = device_.state();
  return verify_buffers();
}

void TimedRuns::hand_over(RunCaseReport& report) {
  report.samples_ns = contestants_.front().samples;
  for (std::size_t i = 1; i < contestants_.size(); ++i) {
    report.rival_samples_ns.push_back(contestants_[i].samples);
  }
}

std::optional<DeviceFault> TimedRuns::verify_buffers() {
  running_ = 0;
  auto fault = device_.verify_guards();
  for (Slot& slot : contestants_.front().slots) {
    fault = fault ? fault : slot.runner->verify_scratch();
  }
  return fault;
}

std::optional<DeviceFault> TimedRuns::prepare(RunCaseReport& report) {
  for (running_ = 0; running_ < contestants_.size(); ++running_) {
    for (Slot& slot : contestants_[running_].slots) {
      slot.runner->poison(random_());
      if (auto fault = slot.runner->run_prepare()) {
        return fault;
      }
    }
  }
  running_ = 0;
  report.prepare_ns = contestants_.front().slots.front().runner->prepare_ns();
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
    if (!more(report) || (reloaded && rounds >= kMaxRoundsOfReloading)) {
      return std::nullopt;
    }
  }
}

std::optional<DeviceFault> TimedRuns::round(RunCaseReport& report) {
  std::vector<std::size_t> order(contestants_.front().slots.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random_);
  std::size_t turns = 0;
  for (const std::size_t slot : order) {
    const auto start = Clock::now();
    if (auto fault = turn(slot, report)) {
      return fault;
    }
    // Poisoning, emptying caches and verifying count, too: they may take longer than the launch.
    spent_ns_ += since(start);
    if (too_slow(++turns, spent_ns_)) {
      break;
    }
  }
  return std::nullopt;
}

bool TimedRuns::too_slow(std::size_t turns, double spent_ns) const {
  return turns >= kLeastTurns && spent_ns >= profiling::StopLimits{}.overdraft * whole_budget_ns();
}

double TimedRuns::whole_budget_ns() const {
  return budget_ns(sampling_) * static_cast<double>(contestants_.size());
}

// Every contestant on one slot. Samples are taken together or not at all, so that those with the
// same index were taken side by side.
std::optional<DeviceFault> TimedRuns::turn(std::size_t slot, RunCaseReport& report) {
  const bool first = !std::exchange(contestants_.front().slots[slot].launched, true);
  bool slow_clock = false;
  bool disturbed = false;
  const bool backwards = runs_backwards();
  device_.begin_turn();
  exchange_places(slot);
  for (std::size_t i = 0; i < contestants_.size(); ++i) {
    const std::size_t one = backwards ? contestants_.size() - 1 - i : i;
    if (auto fault = launch(one, slot)) {
      return fault;
    }
    contestants_[one].last_ns = static_cast<double>(device_.elapsed().count());
    const std::optional<double> clock = device_.measured_clock_mhz();
    slow_clock = slow_clock || (clock && *clock < device_.least_clock_mhz());
    disturbed = disturbed || device_.disturbed();
    if (one == 0 && clock) {
      report.clocks_mhz.push_back(*clock);
    }
    if (one == 0 && wants_verifying(i + 1 == contestants_.size())) {
      verify(slot, static_cast<int>(contestants_.front().slots.size()), report);
      if (auto fault = contestants_.front().slots[slot].runner->verify_once()) {
        return fault;
      }
    }
  }
  running_ = 0;
  if (disturbed) {
    ++report.discarded;
  } else {
    take(first, slow_clock, report);
  }
  return std::nullopt;
}

// A turn on the slot of the one before begins with inputs that caches may still hold for whoever
// was last then: were the order the same in every block, always for the same contestant.
bool TimedRuns::runs_backwards() {
  const bool begins_block = contestants_.front().samples.size() % 2 == 0;
  if (begins_block) {
    block_begins_backwards_ = random_() % 2 == 0;
  }
  return block_begins_backwards_ == begins_block;
}

void TimedRuns::exchange_places(std::size_t slot) {
  const std::size_t other = random_() % contestants_.size();
  if (sampling_.vary_places && other > 0) {
    Slot& own = contestants_.front().slots[slot];
    remove_answers(own.asked.seed); // outputs are exchanged, too
    own.runner->exchange_places(*contestants_[other].slots[slot].runner);
  }
}

void TimedRuns::take(bool first_of_slot, bool slow_clock, RunCaseReport& report) {
  if (!warmed_up(first_of_slot)) {
    ++report.warm_ups;
    return;
  }
  if (slow_clock && throttled_in_a_row_ < kMaxThrottledInARow) {
    ++throttled_in_a_row_;
    ++report.discarded;
    std::this_thread::sleep_for(kCoolDown);
    return;
  }
  throttled_in_a_row_ = slow_clock ? throttled_in_a_row_ : 0;
  for (Contestant& contestant : contestants_) {
    contestant.samples.push_back(contestant.last_ns);
  }
  const std::vector<double>& own = contestants_.front().samples;
  if (contestants_.size() > 1 && own.size() % 2 == 0) {
    const std::size_t block = block_count(own) - 1;
    race_.add(block_ns(own, block), block_ns(contestants_.back().samples, block));
  }
}

// The first launch of a slot has more to it (GpuDevice does not hold it). Slow kernels get no
// launch that does not count: one that alone exceeds the budget is a sample.
bool TimedRuns::warmed_up(bool first_of_slot) {
  bool all = true;
  for (Contestant& contestant : contestants_) {
    const bool over = contestant.warm_up.over() || contestant.warm_up.warm(contestant.last_ns);
    all = ((over && !first_of_slot) || contestant.last_ns > budget_ns(sampling_)) && all;
  }
  warm_ = warm_ || all;
  return first_of_slot ? all : warm_;
}

bool TimedRuns::leads() const {
  return contestants_.size() > 1 && race_.blocks() > 0 && race_.ratio() > 1;
}

bool TimedRuns::more(RunCaseReport& report) {
  if (!warm_ && contestants_.front().samples.empty()) {
    return true;
  }
  if (sampling_.stop_when_lost && race_.verdict() == profiling::RaceVerdict::Slower) {
    report.stopped_by = "clearly slower";
    return false;
  }
  bool enough = true;
  for (Contestant& contestant : contestants_) {
    enough = !contestant.stop_rule.more(contestant.samples, spent_ns_) && enough;
  }
  if (!enough || may_win()) {
    return true;
  }
  report.stopped_by =
      to_string(contestants_.front().stop_rule.reason().value_or(profiling::StopReason::Converged));
  return false;
}

bool TimedRuns::may_win() const {
  return sampling_.stop_when_lost && contestants_.size() > 1 &&
         race_.verdict() == profiling::RaceVerdict::Undecided && race_.ratio() > kWorthDrawingOut &&
         spent_ns_ < kBudgetsToWin * whole_budget_ns() &&
         contestants_.front().samples.size() < static_cast<std::size_t>(sampling_.max_samples);
}

// A module loaded anew is slow at first. The launches that take that away see inputs that no timed
// launch will see: nothing they keep is of use.
std::optional<DeviceFault> TimedRuns::warm_again() {
  const auto start = Clock::now();
  for (std::size_t k = 0; k < contestants_.front().slots.size() && !too_slow(k, since(start));
       ++k) {
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
      Slot& slot = contestants_[i].slots[k];
      slot.runner->draw(random_());
      if (auto fault = launch(i, k)) {
        return fault;
      }
      slot.runner->draw(slot.asked.seed);
      slot.has_answers = slot.unverified = false; // of those inputs
    }
  }
  running_ = 0;
  return std::nullopt;
}

bool TimedRuns::wants_verifying(bool last_of_turn) {
  // The next contestant's launch takes the outputs away.
  return !last_of_turn || sampling_.verify_all || leads() || random_() % kVerifiedShare == 0;
}

// A kernel could find them, its own or a rival's, by reading beyond its buffers.
void TimedRuns::remove_answers(std::uint64_t seed) {
  for (Contestant& contestant : contestants_) {
    for (Slot& slot : contestant.slots) {
      if (slot.has_answers && slot.asked.seed == seed) {
        slot.runner->poison(random_());
        slot.has_answers = slot.unverified = false;
      }
    }
  }
}

std::optional<DeviceFault> TimedRuns::sample_warm(RunCaseReport& report) {
  for (int i = 0; i < kWarmSamples; ++i) {
    if (auto fault = launch(0, 0, CacheState::Warm)) {
      return fault;
    }
    if (i > 0) { // the first one fills the cache
      report.warm_samples_ns.push_back(static_cast<double>(device_.elapsed().count()));
    }
  }
  return std::nullopt;
}

std::optional<DeviceFault> TimedRuns::launch(std::size_t contestant, std::size_t index,
                                             CacheState caches) {
  running_ = contestant;
  Slot& slot = contestants_[contestant].slots[index];
  remove_answers(slot.asked.seed);
  slot.salt = random_();
  slot.runner->poison(slot.salt);
  slot.has_answers = true;
  slot.unverified = contestant == 0;
  if (caches == CacheState::Warm) { // once more, so that poisoning has not emptied them
    if (auto fault = slot.runner->run_timed(caches)) {
      return fault;
    }
  }
  return slot.runner->run_timed(caches);
}

// Of each input: it is still there.
void TimedRuns::verify_last(RunCaseReport& report) {
  for (std::size_t i = 0; i < contestants_.front().slots.size(); ++i) {
    if (contestants_.front().slots[i].unverified) {
      verify(i, 0, report);
    }
  }
}

void TimedRuns::verify(std::size_t index, int spare_areas, RunCaseReport& report) {
  if (case_.outputs.empty()) {
    return;
  }
  Slot& slot = contestants_.front().slots[index];
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
