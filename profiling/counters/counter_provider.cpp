#include "profiling/counters/counter_provider.h"

namespace winnow::profiling {
namespace {

class NoCounters : public CounterProvider {
public:
  NoCounters(std::string provider, Availability why)
      : provider_(std::move(provider)), why_(std::move(why)) {}

  Availability availability() const override { return why_; }

  std::vector<CounterReport> collect_all(CounterSet /*set*/,
                                         std::span<const CountedRun> runs) override {
    CounterReport report;
    report.provider = provider_;
    report.unavailable = unavailable_text(why_);
    return {runs.size(), report};
  }

private:
  std::string provider_;
  Availability why_;
};

} // namespace

std::unique_ptr<CounterProvider> make_no_counters(std::string provider, Availability why) {
  return std::make_unique<NoCounters>(std::move(provider), std::move(why));
}

std::string unavailable_text(const Availability& availability) {
  return availability.remedy.empty() ? availability.why
                                     : availability.why + "; " + availability.remedy;
}

} // namespace winnow::profiling
