#pragma once

#include "tasks/result/evaluation.h"
#include "tasks/task.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::harness {

/// A correct kernel that candidates race against.
struct KernelToBeat {
  std::string text;
  tasks::ParameterChoice parameters;
};

/// Identifies this kernel in the results of races (tasks::RaceResult::rival).
std::string digest_of(const KernelToBeat& kernel);

/// The part of an evaluator that the run loop needs. judge() takes the text of a kernel file and
/// returns the evaluations of its variants; the first one counts. One thread calls judge(). Any
/// thread may call cancel(): a running judge() then returns soon, and its result is discarded.
class Judge {
public:
  virtual ~Judge() = default;
  /// Never throws because of the candidate. Throws Error if the machine cannot judge.
  virtual std::vector<tasks::Evaluation> judge(std::string_view text, std::string file_name,
                                               std::size_t max_variants) = 0;
  /// Prepares everything that judging needs besides a candidate. Runs on judge()'s thread while the
  /// first candidate is compiled. Throws Error.
  virtual void prepare() {}
  /// From now on candidates race against this kernel, launch beside launch; nullptr: no race.
  virtual void race_against(const KernelToBeat* /*kernel*/) {}
  virtual void cancel() = 0;
  /// Why the device can judge no more (it was lost); empty: it can. Called on judge()'s thread.
  virtual std::string lost_device() const { return {}; }
};

/// Called on the judging thread, once for each task, when the first candidate of the task comes.
using JudgeFactory = std::function<std::unique_ptr<Judge>(const tasks::Task&)>;

} // namespace winnow::harness
