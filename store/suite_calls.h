#pragma once

#include "base/fields.h"
#include "store/database.h"
#include "store/run_store.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace winnow::store {

/// A model call of a run, and what became of its reply.
struct SuiteCall {
  std::string task, task_digest;
  std::string model;
  std::int64_t prompt_tokens = 0, completion_tokens = 0; ///< 0 for a reply from a record
  bool tokens_unknown = false;                           ///< nobody has counted those of the reply
  std::optional<double> dollars;                         ///< nullopt: unknown
  bool price_unknown = false;
  /// Of its requests that the provider did not count; not included above.
  std::int64_t unconfirmed_tokens = 0;
  double unconfirmed_dollars = 0;
  bool is_made = false;     ///< false: asked for, and no reply has come
  bool is_answered = false; ///< false for the call of a role, too: its reply is no kernel
  RowId candidate = 0;      ///< 0: there is none
  std::string digest;       ///< of the kernel file; empty: there is no candidate
  tasks::Verdict verdict = tasks::Verdict::NotJudged;
  tasks::Stage stage = tasks::Stage::Parse; ///< the last one that the kernel reached
  std::string device, device_name;          ///< empty: not judged
  double speedup = 0;                       ///< 0: not timed
  tasks::Bounds speedup_bounds;
  /// How many times as fast as torch.compile, by the stored times: the geometric mean over the
  /// search shapes. 0: a time is missing.
  double speedup_versus_compiled = 0;
  /// The same of the fastest alternative whose answers are right, and its name; empty: none.
  double speedup_versus_best = 0;
  std::string best_alternative;
};
WINNOW_FIELDS(SuiteCall, task, task_digest, model, prompt_tokens, completion_tokens, tokens_unknown,
              dollars, price_unknown, unconfirmed_tokens, unconfirmed_dollars, is_made, is_answered,
              candidate, digest, verdict, stage, device, device_name, speedup, speedup_bounds,
              speedup_versus_compiled, speedup_versus_best, best_alternative)

/// All calls of the run, in the order in which they were made.
std::vector<SuiteCall> suite_calls(const RunStore& store, RowId run);

/// The seconds that the evaluations of a run took for a task: to compile, run, compare and time.
/// All of its candidates count, the baseline and seed kernels, too, and all trials of parameters.
/// Finals do not count, nor what somebody asked for later: `profile`, `race` and `reverify`.
/// `last`: the last evaluation that counts; 0: all count.
double device_seconds(const Database& database, RowId run, RowId task, RowId last = 0);

/// The same of each task that the run has asked a model about. By name and digest of the task.
std::map<std::pair<std::string, std::string>, double> device_seconds_of_tasks(const RunStore& store,
                                                                              RowId run);

} // namespace winnow::store
