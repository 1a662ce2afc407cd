#include "profiling/roofline/limiter.h"

#include "profiling/roofline/limiter_rules.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::profiling {
namespace {

constexpr double kPassedPct = 115; // above: no ceiling errs by so much; caches were the bound

struct LimiterName {
  Limiter limiter;
  std::string_view name;
};

constexpr LimiterName kLimiterNames[] = {
    {Limiter::Unknown, "unknown"},     {Limiter::Dram, "DRAM bandwidth"},
    {Limiter::L2, "L2 bandwidth"},     {Limiter::SharedMemory, "shared memory"},
    {Limiter::Tensor, "tensor cores"}, {Limiter::FloatingPoint, "FP pipes"},
    {Limiter::Latency, "latency"},     {Limiter::Occupancy, "occupancy"},
    {Limiter::Launch, "launch"},
};

// A measured time to compare with, and the counter that would be better evidence.
struct Yardstick {
  Limiter limiter;
  std::string_view counter;
  double ns;
  std::string what;
};

// The longer one of a copy of the bytes and the operations. nullopt if neither is known.
std::optional<Yardstick> yardstick_of(const SpeedOfLight& speed) {
  if (speed.rate_ns && *speed.rate_ns > speed.copy_ns.value_or(0)) {
    const std::string what =
        fmt::format("the task's operations at the measured {} rate", speed.rate_kind);
    return speed.rate_kind.ends_with("_tensor")
               ? Yardstick{Limiter::Tensor, "tensor_pipe_pct", *speed.rate_ns, what}
               : Yardstick{Limiter::FloatingPoint, "fma_pipe_pct", *speed.rate_ns, what};
  }
  if (!speed.copy_ns) {
    return std::nullopt;
  }
  const std::string what = "a plain copy of the task's bytes";
  return speed.copy_level == "DRAM"
             ? Yardstick{Limiter::Dram, "dram_throughput_pct", *speed.copy_ns, what}
             : Yardstick{Limiter::L2, "l2_throughput_pct", *speed.copy_ns, what};
}

std::string no_counters(const CounterReport& report) {
  return report.unavailable.empty() ? "no counter shows the limit"
                                    : "no counters: " + report.unavailable;
}

void roofline_rule(const LimiterFacts& facts, Findings& findings) {
  const std::optional<Yardstick> yardstick = facts.speed_of_light && facts.time_ns > 0
                                                 ? yardstick_of(*facts.speed_of_light)
                                                 : std::nullopt;
  if (!yardstick) {
    return;
  }
  const double pct = 100 * yardstick->ns / facts.time_ns;
  if (pct >= kBusyPct && pct <= kPassedPct && !facts.counters.value(yardstick->counter)) {
    find(findings, facts, yardstick->limiter, std::min(pct, 100.0),
         fmt::format("{} would take {:.0f} % of the kernel's time ({})", yardstick->what, pct,
                     no_counters(facts.counters)),
         {});
  }
}

LimiterFinding nothing_known(const LimiterFacts& facts) {
  LimiterFinding finding;
  finding.because =
      facts.speed_of_light
          ? fmt::format("at {}, and {}", share_text(*facts.speed_of_light),
                        no_counters(facts.counters))
          : fmt::format("no speed of light to compare with, and {}", no_counters(facts.counters));
  return finding;
}

} // namespace

std::string_view to_string(Limiter limiter) {
  const auto* found =
      std::find_if(std::begin(kLimiterNames), std::end(kLimiterNames),
                   [limiter](const LimiterName& n) { return n.limiter == limiter; });
  return found != std::end(kLimiterNames) ? found->name : "unknown";
}

Limiter limiter_from_string(std::string_view text) {
  const auto* found = std::find_if(std::begin(kLimiterNames), std::end(kLimiterNames),
                                   [text](const LimiterName& n) { return n.name == text; });
  return found != std::end(kLimiterNames) ? found->limiter : Limiter::Unknown;
}

void to_json(nlohmann::json& json, const LimiterFinding& finding) {
  json = {{"limiter", to_string(finding.limiter)},
          {"because", finding.because},
          {"counters", finding.counters},
          {"weight", finding.weight}};
}

void from_json(const nlohmann::json& json, LimiterFinding& finding) {
  finding.limiter = limiter_from_string(json.at("limiter").get<std::string>());
  json.at("because").get_to(finding.because);
  json.at("counters").get_to(finding.counters);
  json.at("weight").get_to(finding.weight);
}

bool only_hints(const Findings& findings) {
  return std::all_of(findings.begin(), findings.end(),
                     [](const LimiterFinding& found) { return found.weight <= kHintWeight; });
}

void find(Findings& findings, const LimiterFacts& facts, Limiter limiter, double weight,
          std::string because, std::initializer_list<std::string_view> keys) {
  LimiterFinding finding{limiter, std::move(because), {}, weight};
  for (const std::string_view key : keys) {
    if (facts.counters.value(key)) {
      finding.counters.emplace_back(key);
    }
  }
  findings.push_back(std::move(finding));
}

std::vector<LimiterFinding> limiter_of(const LimiterFacts& facts) {
  Findings findings;
  launch_rules(facts, findings);
  memory_rules(facts, findings);
  arithmetic_rules(facts, findings);
  roofline_rule(facts, findings);
  waiting_rules(facts, findings);
  latency_rule(facts, findings);
  pattern_rule(facts, findings);
  if (only_hints(findings)) {
    findings.insert(findings.begin(), nothing_known(facts)); // hints alone name no limiter
    findings.front().weight = kHintWeight;
  }
  std::stable_sort(
      findings.begin(), findings.end(),
      [](const LimiterFinding& a, const LimiterFinding& b) { return a.weight > b.weight; });
  return findings;
}

} // namespace winnow::profiling
