#include "evaluators/worker/timed_runs.h"

#include "base/digest.h"
#include "base/random_bits.h"
#include "evaluators/timing/race_blocks.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <numeric>
#include <thread>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

// A kernel that may still win is timed for this many budgets before the race counts as a tie.
constexpr double kBudgetsToWin = 3;
constexpr double kWorthDrawingOut = 0.995; // of the rival's speed
// A device that stays throttled for longer is measured as it is; the report has the clock.
constexpr int kMaxThrottledInARow = 8;
constexpr std::chrono::milliseconds kCoolDown{20};
constexpr int kWarmSamples = 20;
// In a final, a contestant is over after this many budgets of host time; a slow kernel is over
// after one launch.
constexpr double kFinalOverdraft = 2;
constexpr double kStall = 10;  // medians of a contestant's launches
constexpr int kLeastTurns = 3; // of a round, even for a very slow kernel

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { // nanoseconds since `start`
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

double budget_ns(const SamplingRequest& sampling) { // budget of one contestant
  return static_cast<double>(std::chrono::nanoseconds(sampling.budget).count());
}

profiling::StopLimits limits_of(const SamplingRequest& sampling, std::size_t contestants) {
  profiling::StopLimits limits;
  limits.min_samples = sampling.min_samples;
  limits.max_samples = sampling.max_samples;
  limits.budget_ns = budget_ns(sampling) * static_cast<double>(contestants);
  limits.overdraft = sampling.overdraft;
  return limits;
}

// Warm-up takes at most half of the sampling budget.
profiling::WarmUpLimits warm_up_limits(const SamplingRequest& sampling) {
  profiling::WarmUpLimits limits;
  limits.max_ns = budget_ns(sampling) / 2;
  return limits;
}

/// The task's tensors, which all contestants share.
tasks::ResolvedPlan tensors_of(const tasks::ResolvedPlan& plan) {
  tasks::ResolvedPlan tensors;
  std::copy_if(
      plan.buffers.begin(), plan.buffers.end(), std::back_inserter(tensors.buffers),
      [](const tasks::Buffer& buffer) { return buffer.kind != tasks::Buffer::Kind::Scratch; });
  return tensors;
}

} // namespace

std::uint64_t launch_seed(std::uint64_t case_seed, std::size_t contestant, int launch) {
  constexpr std::uint64_t kUpper = ~std::uint64_t{0} << 32U; // csr_row()
  const auto turn = derived_seed(case_seed, fmt::format("launch {}", launch));
  const auto own =
      derived_seed(case_seed, fmt::format("contestant {} launch {}", contestant, launch));
  return (turn & kUpper) | (own & ~kUpper);
}

TimedRuns::TimedRuns(Device& device, const RunCase& run_case, const ArenaView& arena,
                     TakeComputed take_computed)
    : device_(device), case_(run_case), sampling_(*run_case.sampling), arena_(arena),
      take_computed_(std::move(take_computed)), random_(random_bits()),
      tensor_plan_(tensors_of(*run_case.plan)),
      launched_at_(static_cast<std::size_t>(sampling_.places)), race_(kRaceRules) {
  for (std::size_t i = 0; i <= sampling_.rivals.size(); ++i) {
    contestants_.emplace_back(warm_up_limits(sampling_),
                              limits_of(sampling_, sampling_.rivals.size() + 1));
    contestants_.back().luck = std::uniform_real_distribution<double>(0, 1)(random_);
  }
  for (std::size_t place = 0; place < launched_at_.size(); ++place) {
    add_buffers(place);
  }
}

// The address of a buffer changes the time of a short kernel. So the scratch of the contestants is
// allocated in random order.
void TimedRuns::add_buffers(std::size_t place) {
  const std::size_t tensor_set = place * (contestants_.size() + 1);
  tensors_.push_back(std::make_unique<CaseRunner>(device_, tensor_plan_, case_.seed, tensor_set));
  std::vector<std::size_t> order(contestants_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random_);
  for (const std::size_t module : order) {
    const tasks::ResolvedPlan& plan = module == 0 ? *case_.plan : *sampling_.rivals[module - 1];
    contestants_[module].runners.push_back(std::make_unique<CaseRunner>(
        device_, plan, *tensors_.back(), tensor_set + 1 + module, module));
  }
}

std::optional<std::size_t> TimedRuns::running_rival() const {
  return running_ == 0 ? std::nullopt : std::optional(running_ - 1);
}

std::optional<DeviceFault> TimedRuns::run(RunCaseReport& report) {
  auto fault = prepare(report);
  fault = fault ? fault : sample(report);
  fault = fault || !sampling_.warm ? fault : sample_warm(report);
  hand_over_samples(report);
  if (fault) {
    report.rival = running_rival();
    return fault;
  }
  report.state = device_.state();
  fault = verify();
  report.rival = fault ? running_rival() : std::nullopt;
  return fault;
}

std::optional<DeviceFault> TimedRuns::verify() {
  auto fault = device_.verify_guards();
  for (std::size_t one = 0; one < contestants_.size() && !fault; ++one) {
    running_ = one;
    for (const auto& runner : contestants_[one].runners) {
      fault = fault ? fault : runner->verify_scratch();
    }
  }
  return fault;
}

void TimedRuns::hand_over_samples(RunCaseReport& report) {
  report.samples_ns = contestants_.front().samples;
  for (std::size_t i = 1; i < contestants_.size(); ++i) {
    report.rival_samples_ns.push_back(contestants_[i].samples);
  }
}

bool TimedRuns::computes(bool of_static) const {
  return std::any_of(case_.computed.begin(), case_.computed.end(), [&](const ArenaSlice& slice) {
    return std::any_of(tensor_plan_.buffers.begin(), tensor_plan_.buffers.end(),
                       [&](const tasks::Buffer& buffer) {
                         return buffer.name == slice.tensor && buffer.is_static == of_static;
                       });
  });
}

std::optional<DeviceFault> TimedRuns::prepare(RunCaseReport& report) {
  for (const auto& tensors : tensors_) {
    if (computes(true)) { // `prepare` of a plan reads static inputs
      take_computed_(*tensors, case_.seed);
    }
  }
  for (running_ = 0; running_ < contestants_.size(); ++running_) {
    for (const auto& runner : contestants_[running_].runners) {
      runner->poison(random_());
      if (auto fault = runner->run_prepare()) {
        return fault;
      }
    }
  }
  running_ = 0;
  report.prepare_ns = contestants_.front().runners.front()->prepare_ns();
  return std::nullopt;
}

std::optional<DeviceFault> TimedRuns::sample(RunCaseReport& report) {
  do {
    if (auto fault = round(report)) {
      return fault;
    }
  } while (more(report));
  return std::nullopt;
}

std::optional<DeviceFault> TimedRuns::round(RunCaseReport& report) {
  std::vector<std::size_t> order(launched_at_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random_);
  for (const std::size_t place : order) {
    const auto start = Clock::now();
    if (auto fault = turn(place, report)) {
      return fault;
    }
    // The host time for drawing inputs and emptying caches counts, too: it may exceed the launch
    // time.
    spent_ns_ += since(start);
    if (++turns_ >= kLeastTurns && too_slow_for_whole_rounds()) {
      break;
    }
  }
  return std::nullopt;
}

bool TimedRuns::too_slow_for_whole_rounds() const {
  return charged_ns() >= sampling_.overdraft * whole_budget_ns();
}

// A launch that takes far longer than its contestant's median is not charged in full: one stall, of
// a warm-up for example, must not leave all others without samples. The stage's deadline holds.
double TimedRuns::charged_ns() const {
  double charged = spent_ns_;
  for (const Contestant& one : contestants_) {
    const std::vector<double>& times = one.host_ns;
    if (times.size() < 2) {
      continue; // not known
    }
    const double most = kStall * times[(times.size() - 1) / 2];
    for (auto time = times.rbegin(); *time > most; ++time) { // ends at the median
      charged -= *time - most;
    }
  }
  return charged;
}

double TimedRuns::whole_budget_ns() const {
  return budget_ns(sampling_) * static_cast<double>(contestants_.size());
}

// Takes the samples of all contestants or of none, so that samples with the same index belong to
// the same turn.
std::optional<DeviceFault> TimedRuns::turn(std::size_t place, RunCaseReport& report) {
  const bool first = !launched_at_[place];
  launched_at_[place] = true;
  bool slow_clock = false;
  bool disturbed = false;
  const bool backwards = runs_backwards();
  device_.begin_turn();
  for (std::size_t i = 0; i < contestants_.size(); ++i) {
    const std::size_t one = backwards ? contestants_.size() - 1 - i : i;
    if (contestants_[one].over) {
      continue;
    }
    if (auto fault = launch(one, place, CacheState::Cold)) {
      return fault;
    }
    contestants_[one].last_ns = static_cast<double>(device_.elapsed().count());
    contestants_[one].launched_ns += contestants_[one].last_ns;
    const std::optional<double> clock = device_.measured_clock_mhz();
    slow_clock = slow_clock || (clock && *clock < device_.least_clock_mhz());
    disturbed = disturbed || device_.disturbed();
    if (one == 0 && clock) {
      report.clocks_mhz.push_back(*clock);
    }
    if (wants_judging(one, report)) {
      if (auto fault = hand_over_outputs(one, place, report)) {
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

// Draws ABBA or BAAB for each block. With ABBA only, the same contestant would begin every block.
bool TimedRuns::runs_backwards() {
  const std::size_t turns =
      sampling_.all_judged ? static_cast<std::size_t>(turns_) : contestants_.front().samples.size();
  const bool begins_block = turns % 2 == 0;
  if (begins_block) {
    block_begins_backwards_ = random_() % 2 == 0;
  }
  return block_begins_backwards_ == begins_block;
}

void TimedRuns::take(bool first_at_place, bool slow_clock, RunCaseReport& report) {
  if (!warmed_up(first_at_place)) {
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
    if (contestant.over) {
      continue;
    }
    contestant.samples.push_back(contestant.last_ns);
    for (Drawn& drawn : contestant.drawn) {
      const bool is_last = report.timed_outputs[drawn.entry].launch == contestant.launches - 1;
      drawn.counts = drawn.counts || is_last;
    }
  }
  const std::vector<double>& own = contestants_.front().samples;
  if (contestants_.size() > 1 && !sampling_.all_judged && own.size() % 2 == 0) {
    const std::size_t block = block_count(own) - 1;
    race_.add(block_ns(own, block), block_ns(contestants_.back().samples, block));
  }
}

// The first launch at a place takes longer, because GpuDevice does not hold the stream for it. For
// slow kernels no launch is wasted on warm-up: a launch that exceeds the budget alone is a sample.
bool TimedRuns::warmed_up(bool first_at_place) {
  if (sampling_.all_judged) {
    // To wait until the slowest one has settled would leave the others no time.
    return !first_at_place;
  }
  bool all = true;
  for (Contestant& contestant : contestants_) {
    const bool over = contestant.warm_up.over() || contestant.warm_up.warm(contestant.last_ns);
    all = ((over && !first_at_place) || contestant.last_ns > budget_ns(sampling_)) && all;
  }
  warm_ = warm_ || all;
  return first_at_place ? all : warm_;
}

bool TimedRuns::has_incumbent() const {
  return contestants_.size() > (sampling_.has_baseline ? 2U : 1U);
}

bool TimedRuns::is_incumbent(std::size_t contestant) const {
  return has_incumbent() && contestant + 1 == contestants_.size();
}

// True if the kernel leads: it is faster than the incumbent.
bool TimedRuns::leads() const {
  return has_incumbent() && race_.ratio() > 1;
}

bool TimedRuns::baseline_is_too_short() const {
  if (!sampling_.has_baseline || contestants_.size() < 2 || !(sampling_.least_baseline_ns > 0)) {
    return false;
  }
  const std::vector<double>& baseline = contestants_[1].samples;
  return baseline.size() >= static_cast<std::size_t>(sampling_.min_samples) &&
         *std::min_element(baseline.begin(), baseline.end()) < sampling_.least_baseline_ns;
}

// A contestant is over when it has all its samples or when its launches have used up its budget.
bool TimedRuns::more_of_final(RunCaseReport& report) {
  bool any = false;
  for (Contestant& one : contestants_) {
    const auto samples = static_cast<int>(one.samples.size());
    one.over = samples >= sampling_.max_samples ||
               (samples >= sampling_.min_samples && one.launched_ns >= budget_ns(sampling_)) ||
               (samples >= 1 && one.spent_ns >= kFinalOverdraft * budget_ns(sampling_));
    any = any || !one.over;
  }
  report.stopped_by = any ? "" : to_string(profiling::StopReason::Budget);
  return any;
}

bool TimedRuns::more(RunCaseReport& report) {
  if (sampling_.all_judged) {
    return more_of_final(report);
  }
  if (!warm_ && contestants_.front().samples.empty()) {
    return true;
  }
  if (baseline_is_too_short()) {
    report.stopped_by = "the baseline is too short";
    return false;
  }
  if (sampling_.stop_when_lost && race_.verdict() == profiling::RaceVerdict::Slower) {
    report.stopped_by = "clearly slower";
    return false;
  }
  bool enough = true;
  const double charged = charged_ns();
  for (Contestant& contestant : contestants_) {
    enough = !contestant.stop_rule.more(contestant.samples, charged) && enough;
  }
  if (!enough || may_win()) {
    return true;
  }
  report.stopped_by =
      to_string(contestants_.front().stop_rule.reason().value_or(profiling::StopReason::Converged));
  return false;
}

// Only the race against the incumbent is prolonged. The race against the baseline decides nothing
// more.
bool TimedRuns::may_win() const {
  return sampling_.stop_when_lost && has_incumbent() &&
         race_.verdict() == profiling::RaceVerdict::Undecided &&
         race_.ratio().value_or(1) > kWorthDrawingOut &&
         charged_ns() < kBudgetsToWin * whole_budget_ns() &&
         contestants_.front().samples.size() < static_cast<std::size_t>(sampling_.max_samples);
}

double TimedRuns::wanted_judged(std::size_t contestant) const {
  if (sampling_.all_judged) {
    return sampling_.judged;
  }
  if (contestant == 0) {
    return leads() ? 2 * sampling_.judged : sampling_.judged;
  }
  return is_incumbent(contestant) ? sampling_.incumbent_judged : 0;
}

std::size_t TimedRuns::room(std::size_t contestant) const {
  const auto areas = static_cast<std::size_t>(sampling_.areas);
  if (sampling_.all_judged) {
    return std::max<std::size_t>(areas / contestants_.size(), 1);
  }
  const double wanted = has_incumbent() ? std::ceil(sampling_.incumbent_judged) : 0;
  const std::size_t of_incumbent = std::min(static_cast<std::size_t>(wanted), areas / 2);
  return contestant == 0 ? areas - of_incumbent : of_incumbent;
}

std::size_t TimedRuns::quota(std::size_t contestant) const {
  const double wanted = wanted_judged(contestant);
  if (case_.outputs.empty() || !(wanted > 0)) {
    return 0;
  }
  const bool one_more = contestants_[contestant].luck < wanted - std::floor(wanted);
  return std::min(static_cast<std::size_t>(wanted) + (one_more ? 1 : 0), room(contestant));
}

// Reservoir sampling: each launch whose time counts is judged with the same probability, however
// many launches there are and however long they take. Of a short series all are judged. A launch
// that is a warm-up after all gives its area to a later one. The draw follows each launch, so that
// no kernel can know before its end whether it is judged.
bool TimedRuns::wants_judging(std::size_t contestant, const RunCaseReport& report) {
  const Contestant& one = contestants_[contestant];
  const std::size_t wanted = quota(contestant);
  const bool has_room =
      !one.drawn.empty() || report.timed_outputs.size() < static_cast<std::size_t>(sampling_.areas);
  const std::size_t number = one.samples.size() + 1;
  return wanted > 0 && has_room && (number <= wanted || random_() % number < wanted);
}

TimedOutput& TimedRuns::entry_for(Contestant& contestant, std::size_t quota,
                                  RunCaseReport& report) {
  const std::size_t used = report.timed_outputs.size();
  if (contestant.drawn.size() < quota && used < static_cast<std::size_t>(sampling_.areas)) {
    contestant.drawn.push_back({used, false});
    TimedOutput& added = report.timed_outputs.emplace_back();
    added.area = static_cast<int>(used);
    return added;
  }
  auto replaced = std::find_if(contestant.drawn.begin(), contestant.drawn.end(),
                               [](const Drawn& drawn) { return !drawn.counts; });
  if (replaced == contestant.drawn.end()) {
    replaced =
        contestant.drawn.begin() + static_cast<std::ptrdiff_t>(random_() % contestant.drawn.size());
  }
  replaced->counts = false;
  return report.timed_outputs[replaced->entry];
}

std::optional<DeviceFault> TimedRuns::hand_over_outputs(std::size_t contestant, std::size_t place,
                                                        RunCaseReport& report) {
  const auto start = Clock::now();
  Contestant& one = contestants_[contestant];
  CaseRunner& runner = *one.runners[place];
  const bool is_first = report.timed_outputs.empty();
  TimedOutput& judged = entry_for(one, quota(contestant), report);
  judged = {contestant, one.launches - 1, judged.area, one.salt, random_()};
  for (const ArenaSlice& slice : case_.outputs) {
    const std::uint64_t offset =
        slice.offset + static_cast<std::uint64_t>(judged.area) * sampling_.area_bytes;
    const tasks::Buffer& buffer = runner.buffer(slice.tensor);
    runner.download(slice.tensor,
                    drawn_pieces(static_cast<std::uint64_t>(buffer.count),
                                 tasks::size_bytes(buffer.dtype), judged.draw),
                    arena_.slice(offset, slice.bytes));
  }
  // The next launch draws the inputs again and poisons scratch, so scratch must be verified now.
  // Comparing all inputs with their drawn values takes as long as drawing them, so only the first
  // judged launch does it.
  auto fault = is_first ? device_.verify_guards() : std::nullopt;
  fault = fault ? fault : runner.verify_scratch();
  spent_ns_ -= since(start); // a judged launch must not reduce the number of samples
  return fault;
}

// The caches still hold the data that was drawn and poisoned last.
std::optional<DeviceFault> TimedRuns::sample_warm(RunCaseReport& report) {
  for (int i = 0; i < kWarmSamples; ++i) {
    if (auto fault = launch(0, 0, CacheState::Warm)) {
      return fault;
    }
    report.warm_samples_ns.push_back(static_cast<double>(device_.elapsed().count()));
  }
  return std::nullopt;
}

// Returns the time that the reference took to compute inputs. It must not reduce the number of
// samples.
double TimedRuns::renew(CaseRunner& runner, std::uint64_t seed, std::uint64_t salt) {
  runner.renew(seed, salt);
  if (!computes(false)) {
    return 0;
  }
  const auto start = Clock::now();
  take_computed_(runner, seed);
  return since(start);
}

std::optional<DeviceFault> TimedRuns::launch(std::size_t contestant, std::size_t place,
                                             CacheState caches) {
  running_ = contestant;
  const auto start = Clock::now();
  Contestant& one = contestants_[contestant];
  CaseRunner& runner = *one.runners[place];
  one.salt = random_();
  const double waited =
      renew(runner, launch_seed(case_.seed, contestant, one.launches++), one.salt);
  spent_ns_ -= waited;
  auto fault = runner.run_timed(caches);
  const double host_ns = since(start) - waited;
  one.host_ns.insert(std::upper_bound(one.host_ns.begin(), one.host_ns.end(), host_ns), host_ns);
  one.spent_ns += host_ns;
  return fault;
}

} // namespace winnow::evaluators
