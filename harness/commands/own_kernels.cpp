#include "harness/commands/own_kernels.h"

#include "base/error.h"
#include "base/text/shell_word.h"
#include "harness/run/session.h"

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
      task_(store_.add_task(task)) {}

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
  if (is_known) {
    return fmt::format("{}: is candidate {} already, and its first evaluation counts; `winnow "
                       "reverify --store {}` times the leaders again",
                       file, candidate, shell_word(path_));
  }
  const bool ranked = evaluation.verdict == Verdict::Correct && evaluation.promoted;
  return fmt::format("{}: is candidate {}{}", file, candidate,
                     ranked
                         ? fmt::format("; `winnow leaderboard --store {0}` shows the kernel, and "
                                       "`winnow reverify --store {0}` ranks the leaders in a "
                                       "final",
                                       shell_word(path_))
                         : ", which boards do not rank");
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

} // namespace winnow::harness
