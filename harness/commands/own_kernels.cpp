#include "harness/commands/own_kernels.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/text/shell_word.h"
#include "harness/run/session.h"
#include "search/outcome.h"

#include <algorithm>
#include <charconv>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

store::RowId run_of_person(store::RunStore& store, const std::string& name,
                           const nlohmann::json& environment) {
  const std::optional<store::RunRow> known = store.find_run(name);
  if (!known) {
    const store::RowId run = store.create_run(name, config_of_person(), environment);
    store.set_run_status(run, "finished");
    return run;
  }
  if (known->name != name || !is_of_person(nlohmann::json::parse(known->config))) {
    throw UsageError("the store has a search of the name '" + known->name + "'",
                     "give the kernels another name with --as NAME");
  }
  return known->id;
}

} // namespace

OwnKernels::OwnKernels(CommandStore& store, const std::string& run, const tasks::Task& task,
                       const nlohmann::json& environment)
    : store_(store.to_keep()), path_(store.path()), run_(run_of_person(store_, run, environment)),
      task_(store_.add_task(task)), task_name_(task.name), task_digest_(task.digest) {}

std::string OwnKernels::keep(const std::string& file, const std::string& text,
                             const tasks::Evaluation& evaluation, const std::string& asked_by) {
  using tasks::Verdict;
  if (evaluation.verdict == Verdict::Infrastructure || evaluation.verdict == Verdict::NotJudged) {
    return file + ": not stored, because the machine could not judge the kernel";
  }
  store::CandidateRow row;
  row.origin = "person";
  row.text = text;
  const store::RowId candidate = store_.add_candidate(run_, task_, row);
  const bool is_known = store_.candidate_state(candidate).best.has_value();
  if (asked_by.empty()) {
    store_.add_evaluations(candidate, {evaluation});
  } else {
    store_.add_measurement(candidate, evaluation, asked_by);
  }
  const std::string store = " --store " + shell_word(path_);
  if (is_known) {
    return fmt::format("{}: is in the store already as @{}, and the first evaluation of a kernel "
                       "counts: this one is not added; `winnow reverify{}` times the leaders again",
                       file, candidate, store);
  }
  if (evaluation.verdict != Verdict::Correct || !evaluation.promoted) {
    return fmt::format("{}: is candidate {}, which boards do not rank", file, candidate);
  }
  if (const auto row = earlier_row(candidate, text, evaluation)) {
    return fmt::format("{}: is on the board already as @{} (by {}), and that row stays; this "
                       "evaluation is kept as @{}; `winnow reverify{}` times the leaders again",
                       file, row->candidate_id, row->author, candidate, store);
  }
  return fmt::format("{0}: is candidate {1}; `winnow leaderboard{2}` shows the kernel, and "
                     "`winnow reverify{2}` ranks the leaders in a final",
                     file, candidate, store);
}

/// The row of another candidate with these bytes on the board over all runs.
std::optional<store::LeaderboardRow>
OwnKernels::earlier_row(store::RowId candidate, const std::string& text,
                        const tasks::Evaluation& evaluation) const {
  const std::string digest = sha256_hex(text);
  if (store_.candidate_with_file(task_, digest, 0) == candidate) {
    return std::nullopt; // a whole board is long
  }
  store::LeaderboardQuery query;
  query.task = task_name_;
  query.device = evaluation.device;
  query.top = 0;
  const std::vector<store::LeaderboardRow> rows = store_.leaderboard(query);
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) {
    return row.digest == digest && row.candidate_id != candidate &&
           row.task_digest == task_digest_ && row.device_name == evaluation.device_name &&
           row.evaluator_version == evaluation.evaluator_version;
  });
  return found == rows.end() ? std::nullopt : std::optional(*found);
}

void OwnKernels::keep_baseline(const std::string& text,
                               const std::vector<tasks::Evaluation>& evaluations) {
  store_.transaction([&] {
    store::CandidateRow row;
    row.origin = "baseline";
    row.text = text;
    const store::RowId candidate = store_.add_candidate(run_, task_, row);
    auto next = evaluations.begin();
    if (next != evaluations.end() && !store_.candidate_state(candidate).best) {
      store_.add_evaluations(candidate, {*next++});
    }
    store_.add_trials(candidate, {next, evaluations.end()}, "", 0);
  });
}

namespace {

/// The number of "@7"; 0 for a file.
store::RowId number_of(const std::string& name) {
  store::RowId id = 0;
  if (name.starts_with('@')) {
    std::from_chars(name.data() + 1, name.data() + name.size(), id);
  }
  return id;
}

void keep_kernel(const KeptPair& where, const tasks::Task& task, const nlohmann::json& environment,
                 const JudgedKernel& kernel) {
  tasks::Evaluation evaluation = kernel.evaluation;
  if (evaluation.device.empty()) {
    return; // the other kernel was not correct, so nobody judged this one
  }
  evaluation.promoted = search::may_lead(search::outcome_of(evaluation, ""), nullptr);
  store::RunStore& store = where.store.to_keep();
  const std::optional<store::RowId> known = store.candidate_with_file(
      store.add_task(task), sha256_hex(kernel.text), number_of(kernel.file));
  if (!known || evaluation.verdict == tasks::Verdict::Infrastructure) { // keep() says why not
    std::cerr << OwnKernels(where.store, kOwnKernelsRun, task, environment)
                     .keep(kernel.file, kernel.text, evaluation, where.asked_by)
              << '\n';
    return;
  }
  store.add_measurement(*known, evaluation, where.asked_by);
  std::cerr << fmt::format("{}: is candidate {}; `winnow show {} --store {}` has this measurement, "
                           "too\n",
                           kernel.file, *known, *known, shell_word(where.store.path()));
}

} // namespace

void keep_pair(const KeptPair& where, const tasks::Task& task, const nlohmann::json& environment,
               const KernelPair& pair) {
  if (pair.against) {
    keep_kernel(where, task, environment, *pair.against);
  }
  keep_kernel(where, task, environment, pair.kernel);
  if (pair.kernel.evaluation.race) {
    store::RunStore& store = where.store.to_keep();
    store.add_race(store.add_task(task), pair.kernel.digest, pair.kernel.evaluation);
  }
}

} // namespace winnow::harness
