#pragma once

#include "evaluators/evaluation/evaluation_request.h"

#include <optional>
#include <string>
#include <string_view>

namespace winnow::remote {

/// A request whose answer the coordinator knows. A worker cannot tell its job from others, unless
/// it compares the kernel with the task's baseline.
struct Canary {
  evaluators::EvaluationRequest request;
  bool is_wrong = false; ///< the kernel writes nothing; else the kernel is the task's baseline
};

/// What a worker has to show.
enum class CanaryKind : std::uint8_t {
  Wrong, ///< that it calls a wrong kernel wrong
  Timing ///< that it times rightly: the kernel is the task's baseline
};

/// A canary of the request's task for a worker with this kind of device. nullopt: the task has no
/// baseline to make canaries of.
std::optional<Canary> canary_like(const evaluators::EvaluationRequest& request, CanaryKind kind,
                                  std::string_view device_kind);

/// The baseline against itself has the speedup 1 within this factor on every honest machine.
inline constexpr double kMostAgainstItself = 1.25;
/// The same on a CPU, which other programs disturb. Halved times are still found.
inline constexpr double kMostAgainstItselfOnCpu = 1.6;
/// On a CPU, an interval that is not known reaches so far from the speedup: few samples say little.
inline constexpr double kUnknownWidthOnCpu = 2.5;

/// What is wrong with an answer to a canary; `lies`: an honest machine in order cannot say that.
struct CanaryFault {
  std::string what; ///< empty: nothing
  bool lies = false;
};
CanaryFault fault_in(const Canary& canary, const tasks::Evaluation& answer);

} // namespace winnow::remote
