#include "remote/canary.h"

#include "base/random_bits.h"
#include "tasks/source/kernel_bodies.h"
#include "tasks/task/baseline.h"

#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace winnow::remote {
namespace {

using tasks::Verdict;

/// No compiler knows that the condition is always true.
constexpr std::string_view kReturn = " if (blockDim.x > 0) { return; }";

} // namespace

std::optional<Canary> canary_like(const evaluators::EvaluationRequest& request, CanaryKind kind,
                                  std::string_view device_kind) {
  tasks::Task task = *request.task;
  tasks::take_baseline_of(task, device_kind);
  const std::string& baseline = task.baseline;
  if (baseline.empty()) {
    return std::nullopt;
  }
  Canary canary{request};
  canary.is_wrong = kind == CanaryKind::Wrong;
  canary.request.text = canary.is_wrong ? tasks::begin_kernels_with(baseline, kReturn) : baseline;
  canary.request.text += fmt::format("\n// {:x}\n", random_bits());
  canary.request.choices.clear();
  canary.request.incumbent.reset();
  canary.request.depth = evaluators::Depth::Full;
  canary.request.protocol.seed.reset();
  canary.request.id =
      evaluators::request_id(canary.request, static_cast<std::int64_t>(random_bits() >> 1U));
  return canary.is_wrong && canary.request.text.find(kReturn) == std::string::npos
             ? std::nullopt
             : std::optional(std::move(canary));
}

CanaryFault fault_in(const Canary& canary, const tasks::Evaluation& answer) {
  if (canary.is_wrong) {
    return answer.verdict == Verdict::Correct
               ? CanaryFault{"calls a kernel correct that writes nothing", true}
               : CanaryFault{};
  }
  if (answer.verdict != Verdict::Correct) {
    return {fmt::format("calls the task's own baseline '{}'", to_string(answer.verdict)), false};
  }
  const tasks::Bounds& bounds = answer.speedup_bounds;
  const bool is_cpu = answer.device == "cpu";
  const double width = is_cpu ? kUnknownWidthOnCpu : 1;
  const double low = bounds.known() ? bounds.low : answer.speedup / width;
  const double high = bounds.known() ? bounds.high : answer.speedup * width;
  const double most = is_cpu ? kMostAgainstItselfOnCpu : kMostAgainstItself;
  const bool is_apart = answer.speedup > 0 && (low > most || high < 1 / most);
  return is_apart ? CanaryFault{fmt::format("measures the speedup {:.3g} of the task's baseline "
                                            "against itself",
                                            answer.speedup),
                                bounds.known()}
                  : CanaryFault{};
}

} // namespace winnow::remote
