#pragma once

#include "search/trial.h"
#include "tasks/result/evaluation.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::search {

/// The part of an evaluation that a search remembers: no text, no samples.
struct Outcome {
  /// A race against the incumbent, launch beside launch.
  struct Race {
    std::string incumbent;   ///< tasks::kernel_digest()
    bool faster = false;     ///< the candidate is faster beyond the noise
    double hidden_ratio = 0; ///< speed relative to the incumbent on hidden shapes; 0: not timed
  };
  tasks::Verdict verdict = tasks::Verdict::NotJudged;
  int evaluator_version = 0;
  std::string kernel; ///< tasks::kernel_digest() of the text and the best parameters
  std::string code;   ///< digest of its machine code and its launch plan; empty: not known
  double speedup = 0; ///< against the baseline at the search shapes; 0: not timed
  tasks::Bounds speedup_bounds; ///< 95 % interval
  double hidden_speedup = 0;    ///< against the baseline at hidden shapes; 0: not timed
  bool promoted = false;        ///< Search::promotes() allowed the kernel to lead
  std::optional<Race> race;
  /// Share of the speed of light, 0 to 1, at the search shape where it is least; 0: not known.
  double speed_of_light = 0;
  std::string cell;          ///< cell_of()
  double device_seconds = 0; ///< what the evaluation took
};

WINNOW_FIELDS(Outcome::Race, incumbent, faster, hidden_ratio)

/// At each turn, the incumbent's time / the candidate's time.
std::vector<double> ratios_to_incumbent(const tasks::CaseResult& timed);

/// A trial of a heat, as its evaluation tells it.
Trial trial_of(const tasks::Evaluation& evaluation);

/// `text`: the candidate's kernel file.
Outcome outcome_of(const tasks::Evaluation& evaluation, std::string_view text);

/// The structure of a kernel, by which an archive keeps kernels apart: "2 kernels, shared 16 KB,
/// occupancy 50 %, limited by DRAM bandwidth". It comes from the compiled code and from counters,
/// so that other names and comments never change it.
std::string cell_of(const tasks::Evaluation& evaluation);
/// Outcome::speed_of_light.
double least_speed_of_light(const tasks::Evaluation& evaluation);

/// Whether an outcome counts in the search: correct, promoted, and made by this version of the
/// evaluator. A resumed run may have begun with an earlier version, whose times are not comparable.
/// An outcome that boards do not rank counts too: a given seed holds for all kernels of the run.
bool is_contender(const Outcome& outcome, int evaluator_version);

/// Whether a kernel is faster than the incumbent beyond the noise. It must have won a race against
/// the incumbent; if there was no race, the intervals of their speedups must not overlap. Without
/// an incumbent (nullptr) the kernel's own interval must lie above 1, the speed of the baseline.
bool beats(const Outcome& outcome, const Outcome* incumbent);

/// To replace the incumbent, a kernel must reach at least this share of the incumbent's speed on
/// hidden shapes.
constexpr double kHiddenSpeedShare = 0.9;

/// Whether another choice of parameters replaces the default choice of the same candidate.
bool is_better(const Outcome& choice, const Outcome& of_default);

/// Whether a kernel may become the leader. It must be correct and on hidden shapes at most 10 %
/// slower than the incumbent. If both were timed in turns on hidden shapes, the ratio of that race
/// counts. Otherwise their speedups against the baseline are compared; these were measured at
/// different times, so the load of the machine can differ. `incumbent`: nullptr stands for the
/// baseline.
bool may_lead(const Outcome& outcome, const Outcome* incumbent);

} // namespace winnow::search
