#include "profiling/counters/cupti_provider.h"

#include "profiling/counters/counter_provider.h"
#include "profiling/counters/cupti_device.h"
#include "profiling/counters/cupti_failure.h"
#include "profiling/counters/cupti_plan.h"
#include "profiling/counters/cupti_session.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace winnow::profiling {
namespace {

using namespace cupti;
using Clock = std::chrono::steady_clock;

// CUPTI may need a few more passes than planned. An endless number is an error.
constexpr std::size_t kPassSlack = 4;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Availability unavailable(const CuptiFailure& failure) {
  return Availability::no(failure.what(), failure.remedy());
}

CounterValue counter_of(const Functions& cupti, const Plan& plan, const PlannedCounter& counter,
                        const Image& data, std::size_t range) {
  double metric = 0;
  const CUptiResult result = plan.host.evaluate(counter.metric, data, range, metric);
  if (result != CUPTI_SUCCESS) {
    return {std::nullopt,
            fmt::format("CUPTI cannot evaluate {} ({})", counter.metric, name_of(cupti, result))};
  }
  if (!std::isfinite(metric)) {
    return {std::nullopt, fmt::format("CUPTI gives {} for {}: the count that it divides by is 0",
                                      metric, counter.metric)};
  }
  if (metric < 0) {
    return {std::nullopt,
            fmt::format("CUPTI gives {} for {}, which cannot be negative", metric, counter.metric)};
  }
  return {counter.name.scale * metric, {}};
}

class CuptiCounters : public CounterProvider {
public:
  CuptiCounters(void* context, int ordinal)
      : library_(load_library()), availability_(library_.availability),
        context_(static_cast<CUcontext>(context)) {
    if (availability_.ok) {
      open(ordinal);
    }
  }

  Availability availability() const override { return availability_; }

  std::vector<CounterReport> collect_all(CounterSet set,
                                         std::span<const CountedRun> runs) override {
    std::vector<CounterReport> reports(runs.size());
    for (CounterReport& report : reports) {
      report.provider = "cupti";
    }
    if (runs.empty()) {
      return reports;
    }
    if (!availability_.ok) {
      give_reason(reports, availability_);
      return reports;
    }
    try {
      count(plan_for(set, reports.front()), runs, reports);
    } catch (const CuptiFailure& failure) {
      give_reason(reports, unavailable(failure));
      if (failure.lasting()) {
        availability_ = unavailable(failure);
      }
    }
    return reports;
  }

private:
  static void give_reason(std::vector<CounterReport>& reports, const Availability& why) {
    for (CounterReport& report : reports) {
      report.counters.clear();
      report.unavailable = unavailable_text(why);
    }
  }

  void open(int ordinal) {
    const Clock::time_point start = Clock::now();
    try {
      profiler_.emplace(functions());
      chip_ = open_chip(functions(), context_, ordinal);
      availability_ = Availability::yes(fmt::format("{}, {}", functions().path, chip_.name));
    } catch (const CuptiFailure& failure) {
      availability_ = unavailable(failure);
      profiler_.reset(); // its hooks slow the driver down
    }
    unreported_setup_ms_ = ms_since(start);
  }

  const Plan& plan_for(CounterSet set, CounterReport& report) {
    const auto found = plans_.find(set);
    if (found != plans_.end()) {
      return found->second;
    }
    const Clock::time_point start = Clock::now();
    const Plan& plan =
        plans_.emplace(set, make_plan(functions(), chip_, counters_in(set))).first->second;
    report.setup_ms = std::exchange(unreported_setup_ms_, 0) + ms_since(start);
    return plan;
  }

  void count(const Plan& plan, std::span<const CountedRun> runs, std::span<CounterReport> reports) {
    for (std::size_t first = 0; first < runs.size(); first += kMostRanges) {
      const std::size_t some = std::min(kMostRanges, runs.size() - first);
      count_together(plan, runs.subspan(first, some), reports.subspan(first, some));
    }
  }

  void count_together(const Plan& plan, std::span<const CountedRun> runs,
                      std::span<CounterReport> reports) {
    const Clock::time_point start = Clock::now();
    try {
      if (session_ && &session_->plan() != &plan) {
        close_session();
      }
      if (!session_) {
        session_.emplace(functions(), context_, plan);
      }
      session_->configure(runs.size());
      const int passes = run_passes(*session_, plan.passes, runs);
      const Image& data = session_->decode();
      for (std::size_t i = 0; i < reports.size(); ++i) {
        read(plan, data, i, reports[i]);
        reports[i].passes = passes;
      }
    } catch (...) {
      close_session();
      throw;
    }
    for (CounterReport& report : reports) {
      report.collect_ms = ms_since(start) / static_cast<double>(runs.size());
    }
  }

  /// Returns the number of passes.
  static int run_passes(RangeSession& session, std::size_t planned,
                        std::span<const CountedRun> runs) {
    for (std::size_t pass = 1; pass <= planned + kPassSlack; ++pass) {
      if (session.run_pass(runs)) {
        return static_cast<int>(pass);
      }
    }
    const std::size_t passes = planned + kPassSlack;
    throw CuptiFailure(
        fmt::format("CUPTI asks for more than {} passes, but it planned {}", passes, planned),
        "count again; if the error stays, another tool uses CUPTI in this process", false);
  }

  void read(const Plan& plan, const Image& data, std::size_t range, CounterReport& report) const {
    for (const PlannedCounter& counter : plan.counters) {
      report.counters[std::string(counter.name.key)] =
          counter_of(functions(), plan, counter, data, range);
    }
    for (const auto& [key, why] : plan.left_out) {
      report.counters[key] = {std::nullopt, why};
    }
  }

  // An enabled session would count or slow down later launches.
  void close_session() {
    if (!session_) {
      return;
    }
    const std::string failure = session_->close();
    session_.reset();
    if (!failure.empty()) {
      availability_ = Availability::no(failure, "use a fresh process");
    }
  }

  const Functions& functions() const { return library_.functions; }

  const Library library_;
  Availability availability_;
  CUcontext context_;
  std::optional<Profiler> profiler_;
  Chip chip_;
  std::map<CounterSet, Plan> plans_; // host objects must be destroyed before profiler_
  // The session stays enabled: enabling takes 150 ms on an H200. Between passes it does not slow
  // kernels down (docs/measurements/trust.md).
  std::optional<RangeSession> session_;
  double unreported_setup_ms_ = 0;
};

} // namespace

std::unique_ptr<CounterProvider> make_cupti_counters(void* cuda_context, int device_ordinal) {
  return std::make_unique<CuptiCounters>(cuda_context, device_ordinal);
}

} // namespace winnow::profiling
