#pragma once

#include "evaluators/evaluation/evaluation_request.h"
#include "tasks/result/evaluation.h"

#include <chrono>
#include <map>
#include <string>

namespace winnow::bench {

/// Evenly drawn between the two, in milliseconds.
std::chrono::milliseconds draw_time(int least_ms, int most_ms);

/// The evaluation of a made-up kernel: with all cases of the request, samples that are drawn anew,
/// and intervals computed from them. Its verdict and its speed follow from the text of the kernel,
/// so all honest workers agree. Two of ten kernels fail; the others have speedups around 1.2.
tasks::Evaluation simulated_verdict(const evaluators::EvaluationRequest& request,
                                    double device_seconds);

/// Gives the same verdicts without the work of drawing samples: one evaluation of each kind is
/// simulated, and its times are scaled for the others. A coordinator that checks results would
/// refuse them, because samples come again.
class ScaledVerdicts {
public:
  tasks::Evaluation of(const evaluators::EvaluationRequest& request, double device_seconds);

private:
  std::map<std::string, tasks::Evaluation> patterns_; ///< by task, verdict and incumbent
};

/// The text that marks a kernel as made up. Any other kernel, such as a baseline, is as fast as the
/// baseline.
inline constexpr const char* kMadeUp = "// made-up kernel ";

} // namespace winnow::bench
