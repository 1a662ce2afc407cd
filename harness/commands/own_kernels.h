#pragma once

#include "harness/named/named_task.h"
#include "harness/report/kernel_pair_report.h"
#include "tasks/task/task.h"

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

constexpr const char* kOwnKernelsRun = "person";

/// Puts kernels that a person wrote on the board of a store. A run of its own keeps them.
class OwnKernels {
public:
  /// `run`: the name of the run, which is created in this environment if the store has none. Throws
  /// UsageError if a search has that name.
  OwnKernels(CommandStore& store, const std::string& run, const tasks::Task& task,
             const nlohmann::json& environment);

  /// Stores the kernel and its evaluation. Says in one line what became of the kernel. The first
  /// evaluation of a text counts: the best of several would reward luck. `asked_by`: the command,
  /// as RunStore::add_measurement() takes it; empty: `eval`.
  std::string keep(const std::string& file, const std::string& text,
                   const tasks::Evaluation& evaluation, const std::string& asked_by = {});
  /// Stores evaluations of the task's baseline.cu. Only the first one that the run ever got counts;
  /// the others tell how much its time varies.
  void keep_baseline(const std::string& text, const std::vector<tasks::Evaluation>& evaluations);

private:
  std::optional<store::LeaderboardRow> earlier_row(store::RowId candidate, const std::string& text,
                                                   const tasks::Evaluation& evaluation) const;

  store::RunStore& store_;
  std::string path_;
  store::RowId run_ = 0;
  store::RowId task_ = 0;
  std::string task_name_, task_digest_;
};

/// Where what `profile` and `race` measured is kept.
struct KeptPair {
  CommandStore& store;
  std::string asked_by; ///< "profile", "race"
};

/// Puts the evaluations of the pair, and its race, into the store. A kernel that is a candidate of
/// the task gets another measurement, which changes no board. Another kernel becomes a candidate,
/// as `winnow eval --store` does it. Says on stderr what became of each kernel.
void keep_pair(const KeptPair& where, const tasks::Task& task, const nlohmann::json& environment,
               const KernelPair& pair);

} // namespace winnow::harness
