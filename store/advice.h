#pragma once

#include "base/fields.h"
#include "store/run_store.h"

#include <string>
#include <vector>

namespace winnow::store {

/// What the calls of a role cost in a run and how often it was right. Calls count once they are
/// answered.
struct RoleTotals {
  std::string role;
  std::int64_t calls = 0;
  std::int64_t useful = 0;                               ///< whose reply had usable advice
  std::int64_t prompt_tokens = 0, completion_tokens = 0; ///< 0 for replies from a record
  std::optional<double> dollars; ///< of the calls with a known price; nullopt: there are none
  std::int64_t calls_without_price = 0;
  std::int64_t scored = 0; ///< predictions that were compared with a measurement
  std::int64_t correct = 0;
};
WINNOW_FIELDS(RoleTotals, role, calls, useful, prompt_tokens, completion_tokens, dollars,
              calls_without_price, scored, correct)

/// The predictions of the judge in a run, of one task or of all.
struct JudgeRecord {
  std::int64_t scored = 0;
  std::int64_t correct = 0; ///< of which the direction was right
  /// Of the size, in per cent of the fact's value. The median, because a child that goes another
  /// way can be a thousand times slower.
  double median_error = 0;
};

/// The candidates of a run by the verifier's answer, of one task or of all. Those that failed
/// because of the machine do not count.
struct VerifierRecord {
  std::int64_t accepted_correct = 0, accepted_failed = 0;
  std::int64_t audited_correct = 0, audited_failed = 0; ///< rejected, and run anyway
  std::int64_t rejected = 0;                            ///< with the audited ones
};
WINNOW_FIELDS(VerifierRecord, accepted_correct, accepted_failed, audited_correct, audited_failed,
              rejected)

/// The forecasts of speed in a run, of one task or of all.
struct ForecastRecord {
  std::int64_t measured = 0;
  std::int64_t left_out = 0;               ///< candidates that no device has seen
  std::optional<double> score, model_free; ///< means of ForecastRow; nullopt: none was measured
  std::int64_t audited = 0;                ///< measured although the forecast was improbable
  std::int64_t audited_beat = 0;           ///< of these, faster than the best kernel
};
WINNOW_FIELDS(ForecastRecord, measured, left_out, score, model_free, audited, audited_beat)

/// A useful forecast of a candidate's speed.
struct StoredForecast {
  std::string key; ///< of the call
  RowId candidate = 0;
  std::string content;              ///< the advice (JSON, agents/roles/role_reply.h)
  bool is_left_out = false;         ///< no device has seen the candidate
  std::optional<ForecastRow> score; ///< nullopt: not measured, or the candidate is not correct
};
WINNOW_FIELDS(StoredForecast, key, candidate, content, is_left_out, score)

/// What tells the arms of prompts apart: the meta-prompter's words, lessons of other tasks, or a
/// kernel of another task.
enum class PromptArms { Variant, Memory, Exemplar };

/// The children of one arm of prompts.
struct PromptArmTotals {
  /// The key of the meta-prompter's call, empty for the built-in words; or "with" or "without"
  /// lessons or a kernel.
  std::string arm;
  std::int64_t children = 0;
  double mean_gain = 0; ///< log speedup over the parent
  double variance = 0;  ///< of the gains; 0: fewer than two children
};
WINNOW_FIELDS(PromptArmTotals, arm, children, mean_gain, variance)

// `task`: a name; empty: all tasks of the run.
std::vector<RoleTotals> role_totals(const RunStore& store, RowId run);
JudgeRecord judge_record(const RunStore& store, RowId run, const std::string& task = {});
VerifierRecord verifier_record(const RunStore& store, RowId run, const std::string& task = {});
ForecastRecord forecast_record(const RunStore& store, RowId run, const std::string& task = {});
std::vector<StoredForecast> forecasts(const RunStore& store, RowId run); ///< oldest first
std::vector<PromptArmTotals> prompt_arm_totals(const RunStore& store, RowId run, PromptArms arms,
                                               const std::string& task = {});

/// A kernel of another run that became faster.
struct Lesson {
  RowId parent = 0, child = 0; ///< candidates
  std::string task;
  double gain = 1;           ///< speed of the child / speed of the parent
  tasks::Bounds gain_bounds; ///< from the 95 % intervals of both speedups
};
WINNOW_FIELDS(Lesson, parent, child, task, gain, gain_bounds)
/// The greatest gains in runs other than `run`, on tasks other than `task`, on this device and by
/// this evaluator: correct kernels that are at least 5 % faster than their correct parent. At most
/// `most`, greatest first.
std::vector<Lesson> lessons(const RunStore& store, RowId run, const std::string& task,
                            const std::string& device_name, std::int64_t evaluator_version,
                            std::int64_t most);

} // namespace winnow::store
