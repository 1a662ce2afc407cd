#pragma once

#include "store/suite_calls.h"
#include "tasks/suite.h"

#include <cstdint>
#include <map>
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
  std::int64_t calls_per_problem = 1; ///< run.proposals
  bool has_given_seed = false;        ///< evaluation.seed was set
  std::vector<store::SuiteCall> calls;
  /// store::device_seconds() by name and digest of the task.
  std::map<std::pair<std::string, std::string>, double> device_seconds = {};
  std::string distinction = {}; ///< run_labels.h
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

/// Whether no reply of a run of this strategy saw another, as pass@k and proficiency need it.
bool has_independent_replies(std::string_view strategy);

/// The document as tables for people. `problems`: with a line for each problem.
std::string suite_text(const nlohmann::json& document, bool problems);

} // namespace winnow::harness
