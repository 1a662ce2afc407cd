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

/// A correct kernel that candidates are to beat.
struct KernelToBeat {
  std::string text;
  tasks::ParameterChoice parameters;
};

/// Identifies a kernel to beat in the results of races (tasks::RaceResult::rival).
std::string digest_of(const KernelToBeat& kernel);

/// What the run loop needs of an evaluator: a kernel file's text in, its variants' evaluations out,
/// the one that counts first. judge() is called from one thread; cancel() from any, and makes a
/// judge() in progress return soon with something that will be thrown away.
class Judge {
public:
  virtual ~Judge() = default;
  /// Never throws for what the candidate is or does; throws Error when the machine is not fit.
  virtual std::vector<tasks::Evaluation> judge(std::string_view text, std::string file_name,
                                               std::size_t max_variants) = 0;
  /// Makes ready what judging needs beside a candidate. On judge()'s thread, while the first one is
  /// compiled. Throws Error.
  virtual void prepare() {}
  /// From now on candidates race against this one, launch beside launch; nullptr: against nobody.
  virtual void race_against(const KernelToBeat* /*kernel*/) {}
  virtual void cancel() = 0;
  /// Why its device will judge nothing any more (it was lost); empty: it will. On judge()'s thread.
  virtual std::string lost_device() const { return {}; }
};

/// Called on the judging thread, once a task, when its first candidate comes.
using JudgeFactory = std::function<std::unique_ptr<Judge>(const tasks::Task&)>;

} // namespace winnow::harness
