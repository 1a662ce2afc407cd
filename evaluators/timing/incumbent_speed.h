#pragma once

#include "tasks/result/evaluation.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// The speed over the baseline with which a kernel became the incumbent.
struct EarnedSpeed {
  double speedup = 0;   ///< over the search shapes; 0: not known
  tasks::Bounds bounds; ///< its 95 % interval; not known: a factor of 4 to both sides counts
};

/// A race counts only if the incumbent runs in it as it ran in its own evaluation. Says why it does
/// not: its speed over the baseline, which took turns with it, is not the earned speed, or its
/// speed has changed in the middle of a series (change_point()). Empty: it does, or nothing is
/// known.
///
/// The speed is the one that decides the race: the estimate of profiling::Race. It may differ from
/// the earned speed by the earned interval, by the noise of these turns, and by what two
/// evaluations of a kernel differ. The noise is that of the candidate beside the baseline: the
/// incumbent's own noise would hide a change in the middle.
///
/// `timed`: the cases of the race; only those of Stage::Time with samples of all three count.
std::string why_not_reproduced(const std::vector<tasks::CaseResult>& timed,
                               const EarnedSpeed& earned, std::string_view device_kind);

} // namespace winnow::evaluators
