#pragma once

#include "tasks/result/verdict.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::lab {

/// The kernel that a call builds on, as far as it decides what the reply is like.
enum class ParentState : std::uint8_t {
  First,       ///< the baseline, or no kernel
  Correct,     ///< a correct kernel that is a reply
  NotCompiled, ///< a reply without a module: no kernel file, a bad plan, a compile error
  Wrong,       ///< a reply that compiled and failed
};
constexpr std::size_t kParentStates = 4;
ParentState state_after(tasks::Verdict verdict);

/// How likely each verdict is; the sum is 1, but for rounding.
using VerdictShares = std::map<tasks::Verdict, double>;

/// A simulated model.
struct LabModel {
  std::string name;
  double dollars = 0;         ///< mean price of a call
  double seconds = 0;         ///< mean latency of a call
  double correct_odds = 1;    ///< factor on the odds of a correct reply
  double improves_factor = 1; ///< factor on the chance that a correct reply is faster
};

/// A kind of simulated task, with simulated models and a simulated device, as data. Speeds are
/// natural logarithms of speedups over the kernel to beat: the baseline, or PyTorch eager if the
/// tasks have no baseline. docs/lab.md explains the model, configs/landscapes/README.md every key.
struct Landscape {
  std::string name;
  /// By section of the file: where its numbers come from.
  std::map<std::string, std::string> sources;

  struct Task {
    bool has_baseline = true;
    double ceiling = 0.8;        ///< mean over the tasks of the best structure's log speedup
    double ceiling_spread = 1;   ///< standard deviation / mean of the ceilings of tasks
    std::size_t structures = 4;  ///< kinds of kernels that a task allows
    double least_ceiling = 0.5;  ///< ceilings of structures, as shares: uniform from here to 1
    double speed_of_light = 0.9; ///< share of the speed of light at the ceiling
  } task;

  VerdictShares verdicts[kParentStates]; ///< by ParentState

  struct Gains {
    double first_slower = 0.3; ///< chance that a correct first kernel is slower than the baseline
    double first_share = 0.5;  ///< mean share of the ceiling that other first kernels reach
    double first_alike = 0;    ///< chance that a first kernel is the one that the task suggests
    double improves = 0.4;     ///< chance that a correct reply is faster than its parent, ...
    double hardness = 0.5;     ///< ... times (share of the ceiling that is left) ^ hardness
    double gap_share = 0.5;    ///< mean share of the gap to the ceiling that an improvement closes
    double regression = 0.35;  ///< mean loss of a correct reply that is slower, as a logarithm
  } gains;

  /// By operator: the chance that a reply has another structure than its parent.
  std::map<std::string, double> jumps;
  double other_jump = 0.2; ///< of operators that `jumps` does not name

  struct Tuning {
    double tunable = 0.9;    ///< share of the kernels that have parameters
    std::size_t choices = 6; ///< choices of parameters of such a kernel
    double gap = 0.03;       ///< mean of log(best choice / default choice)
  } tuning;

  struct Hidden {
    double slow = 0.05;    ///< share of the correct kernels that are slower at hidden shapes
    double slowdown = 0.5; ///< mean loss of these, as a logarithm
  } hidden;

  struct Measurement {
    double interval = 0.01; ///< half the width of the 95 % interval of a log speedup
    double race = 0.01;     ///< half the width of the 99 % interval of a race, as a logarithm
  } measurement;

  struct Device {
    double right = 1;    ///< mean seconds of an evaluation of a correct kernel in full
    double wrong = 0.3;  ///< of a kernel that compiles and fails
    double heat = 0.01;  ///< of one turn of one choice in a heat
    double spread = 0.5; ///< standard deviation / mean of these
  } device;

  std::vector<LabModel> models;

  /// What a prompt shows changes no gain unless these say so. Factors on the chance that a correct
  /// reply is faster than its parent; 1: no effect.
  struct Effects {
    double contrast = 1;  ///< the operator `contrast`
    double failures = 1;  ///< the prompt tells of ideas that made a parent slower
    double regressed = 1; ///< the prompt shows a previous attempt much slower than the best one
    /// Chance that a seed avoids the structures that its prompt tells of.
    double families = 0;
  } effects;

  const VerdictShares& verdicts_after(ParentState state) const {
    return verdicts[static_cast<std::size_t>(state)];
  }
  double jump_of(const std::string& op) const;
  /// The effects that the data switch on, for people: "contrast 1.2x".
  std::vector<std::string> effects_on() const;
};

/// Reads a landscape. `file` names it in messages. Throws UsageError with the position of a
/// mistake.
Landscape parse_landscape(std::string_view text, const std::string& file);
Landscape read_landscape(const std::filesystem::path& file);
/// The text that parse_landscape() reads.
std::string landscape_toml(const Landscape& landscape);

/// "first", "after_correct", "after_compile_failure", "after_wrong"
const std::vector<std::string>& parent_state_names();

} // namespace winnow::lab
