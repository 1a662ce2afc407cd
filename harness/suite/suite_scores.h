#pragma once

#include "store/suite_calls.h"
#include "tasks/suite.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// A run that asked models for kernels of a suite.
struct SuiteRun {
  store::RowId id = 0;
  std::string name, status, strategy;
  /// run.proposals; of a run without it the most calls that a problem has.
  std::int64_t calls_per_problem = 1;
  bool has_given_seed = false; ///< evaluation.seed was set
  std::vector<store::SuiteCall> calls;
  /// store::device_seconds() by name and digest of the task.
  std::map<std::pair<std::string, std::string>, double> device_seconds = {};
  std::string distinction = {}; ///< run_labels.h
  /// Its loop states that no reply saw another, as pass@k and proficiency need it.
  bool states_independence = false;
  bool is_search = true; ///< of Winnow's own, so that `winnow resume` can go on with it
};

/// The runs of the store that have asked for a kernel of the suite, oldest first. `names`: only the
/// runs of these names, unless empty.
std::vector<SuiteRun> suite_runs(const store::RunStore& store,
                                 const std::vector<tasks::SuiteTask>& tasks,
                                 const std::vector<std::string>& names);

/// The scores of the runs: schema "winnow.suite", version 1. Every task of the suite is a problem
/// of every run, also if the run has not asked for it. `suite`: the name that the user gave.
nlohmann::json suite_json(const std::string& suite, const std::vector<tasks::SuiteTask>& tasks,
                          const std::vector<SuiteRun>& runs);

/// suite_json() of the runs of a store. `suite` is named as for `winnow bench`; `run`: only the run
/// with this name or number, unless empty. Throws UsageError if there is no such suite or run.
nlohmann::json stored_suite_json(const store::RunStore& store, const std::string& suite,
                                 const std::string& run);

/// pass@k: the probability that at least one of k replies is correct, drawn from `replies` replies
/// of which `correct` are: 1 - C(replies - correct, k) / C(replies, k), the unbiased estimator of
/// Chen et al. 2021 (arXiv 2107.03374). k is at most `replies`, and `correct` is, too.
double pass_at(std::int64_t k, std::int64_t replies, std::int64_t correct);

/// Whether no reply of a search with this strategy saw another.
bool has_independent_replies(std::string_view strategy);

/// The document as tables for people. `problems`: with a line for each problem.
std::string suite_text(const nlohmann::json& document, bool problems);

/// The runs of a document "winnow.suite" side by side, computed from the document alone: its member
/// "comparison", with a row for each run. Problems with a flag are left out. A quantity is a mean
/// over the problems. Its interval (95 %) is a bootstrap over the problems. A run ranks after
/// another only if the sign flip test of their differences at the problems of both has a p-value
/// below 0.05: a bootstrap of few problems would call three wins and no loss sure. The seeds are
/// fixed, so the same document always gives the same comparison.
nlohmann::json comparison_json(const nlohmann::json& document);

/// The comparison as a table for people; empty for one without rows.
std::string comparison_text(const nlohmann::json& comparison);

/// A reply of a model that saw no other reply for the task.
struct ModelSuggestion {
  bool is_kernel_file = false; ///< the reply has a kernel file, right or wrong
  bool is_correct = false;
  std::string digest; ///< of the kernel file; equal texts have equal digests
};

/// As many suggestions as the study looks at.
inline constexpr std::size_t kSuggestions = 10;

/// The proficiency that the first ten suggestions for a task show, from 0 to 1. The levels are
/// those of Godoy, Valero-Lara, Teranishi, Balaprakash and Vetter, "Evaluation of OpenAI Codex for
/// HPC Parallel Programming Models Kernel Generation" (arXiv 2306.15121):
/// - 0, non-knowledge: no suggestion is correct,
/// - 0.25, novice: at least one is correct, but another is not in the form that the prompt asks
/// for,
/// - 0.5, learner: at least one is correct, and others in that form are wrong,
/// - 0.75, proficient: all are correct,
/// - 1, expert: there is one piece of code only, and that code is correct.
/// The form is the programming model in the study, and a kernel file here. Ten equal kernel files
/// are one piece of code. nullopt: there are fewer than ten suggestions.
std::optional<double> proficiency(const std::vector<ModelSuggestion>& suggestions);

/// A setting of a run. `words` may be on a page that leaves the machine.
struct RunSetting {
  std::string value; ///< what is compared
  std::string words; ///< "run.max_variants=8", "prompts mine/question_improve.md (3fa2b1c0)"
};

/// By key of the configuration. Without what says where a run is, and in which order it works.
using RunSettings = std::map<std::string, RunSetting>;
RunSettings run_settings(const nlohmann::json& stored_config);

/// A run of a comparison.
struct ComparedRun {
  std::string name;
  std::string base; ///< "model, strategy": the first words of its label
  RunSettings settings;
};

/// For each run what its label says after `base`, so that no two labels are equal: the settings in
/// which the runs of this `base` differ, and prompt templates of the user's own, else the name of
/// the run. Empty: nothing more is needed.
std::vector<std::string> distinctions(const std::vector<ComparedRun>& runs);

} // namespace winnow::harness
