#include "profiling/roofline/limiter_rules.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace winnow::profiling {
namespace {

constexpr double kDivergentThreads = 16; ///< active threads of 32: half of the issue slots are lost

struct Pipe {
  std::string_view key;
  std::string_view name;
};

constexpr std::array<Pipe, 5> kPipes = {{{"fma_pipe_pct", "FMA"},
                                         {"fp16_pipe_pct", "FP16"},
                                         {"fp64_pipe_pct", "FP64"},
                                         {"alu_pipe_pct", "integer and logic (ALU)"},
                                         {"xu_pipe_pct", "special-function (XU)"}}};

void tensor(const LimiterFacts& facts, Findings& findings) {
  const std::optional<double> pct = facts.counters.value("tensor_pipe_pct");
  if (pct && *pct >= kBusyPct) {
    find(findings, facts, Limiter::Tensor, *pct,
         fmt::format("tensor pipe {:.0f} % active{}", *pct,
                     *pct >= kSaturatedPct ? " (near its peak)" : ""),
         {"tensor_pipe_pct"});
  }
}

std::string divergence(const CounterReport& counters) {
  const std::optional<double> threads = counters.value("threads_per_instruction");
  return threads && *threads < kDivergentThreads
             ? fmt::format("; only {:.0f} of 32 threads take part (divergence)", *threads)
             : "";
}

// Returns whether the counter of any pipe is there.
bool pipes(const LimiterFacts& facts, Findings& findings) {
  bool known = false;
  double most = 0;
  Pipe busiest;
  for (const Pipe& pipe : kPipes) {
    const std::optional<double> pct = facts.counters.value(pipe.key);
    known = known || pct.has_value();
    if (pct && *pct > most) {
      most = *pct;
      busiest = pipe;
    }
  }
  if (most >= kBusyPct) {
    find(findings, facts, Limiter::FloatingPoint, most,
         fmt::format("{} pipe {:.0f} % active{}{}", busiest.name, most,
                     most >= kSaturatedPct ? " (near its peak)" : "", divergence(facts.counters)),
         {busiest.key, "threads_per_instruction"});
  }
  return known;
}

// Issue slots: one instruction per cycle, whatever its pipe. The pipes' own counters say more if
// present.
void issue(const LimiterFacts& facts, Findings& findings, bool pipes_known) {
  const std::optional<double> pct = facts.counters.value("issue_active_pct");
  if (!pct || *pct < (pipes_known ? kSaturatedPct : kBusyPct)) {
    return;
  }
  find(findings, facts, Limiter::FloatingPoint, *pct,
       fmt::format("instruction issue slots {:.0f} % busy{}{}", *pct,
                   pipes_known ? "" : " (pipes not counted)", divergence(facts.counters)),
       {"issue_active_pct", "threads_per_instruction"});
}

} // namespace

void arithmetic_rules(const LimiterFacts& facts, Findings& findings) {
  tensor(facts, findings);
  const std::size_t before = findings.size();
  const bool known = pipes(facts, findings);
  if (findings.size() == before) {
    issue(facts, findings, known);
  }
}

} // namespace winnow::profiling
