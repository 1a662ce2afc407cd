#include "harness/commands/kernels/kept_pair.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/text/shell_word.h"
#include "harness/commands/own_kernels.h"
#include "search/outcome.h"

#include <charconv>
#include <iostream>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
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
