#include "remote/worker_selftest.h"

#include "base/error.h"
#include "evaluators/evaluation/ordered_results.h"
#include "tasks/source/kernel_file_scan.h"
#include "tasks/task/baseline.h"

#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace winnow::remote {
namespace {

using evaluators::EvaluationRequest;
using evaluators::EvaluationResult;
using tasks::Verdict;

/// No compiler knows that the condition is always true.
constexpr std::string_view kReturn = " if (blockDim.x > 0) { return; }";
constexpr int kMostRounds = 10;

bool is_wrong(Verdict verdict) {
  return verdict == Verdict::Wrong || verdict == Verdict::UnwrittenOutput;
}

/// Throws Error unless the device says what is expected.
void require(const EvaluationResult& result, const EvaluationRequest& request,
             const std::string& what, bool (*is_expected)(Verdict)) {
  std::string said = result.fault;
  if (said.empty()) {
    const tasks::Evaluation& evaluation = result.evaluations.front();
    if (is_expected(evaluation.verdict)) {
      return;
    }
    said = fmt::format("'{}' {}", to_string(evaluation.verdict), evaluation.detail);
  }
  const std::string& task = request.task->name;
  throw Error(
      fmt::format("this machine judges wrongly, so it takes no jobs: {} of the task {} gets "
                  "{} on {}",
                  what, task, said, result.worker),
      fmt::format("`winnow doctor` checks the device, and `winnow tasks selftest {}` its "
                  "verdicts",
                  task));
}

/// A request goes to the first device that is free, so one device may get several.
void judge_on_each(evaluators::OneByOne& devices, std::size_t count,
                   const EvaluationRequest& request, const std::string& what,
                   bool (*is_expected)(Verdict)) {
  std::set<std::string> proved;
  for (int round = 0; round < kMostRounds && proved.size() < count; ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      devices.submit(request);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const EvaluationResult result = devices.next().value();
      require(result, request, what, is_expected);
      proved.insert(result.worker);
    }
  }
  if (proved.size() < count) {
    throw Error(fmt::format("{} of {} devices judge", proved.size(), count),
                "`winnow doctor` checks the devices; leave out those that fail (--device)");
  }
}

} // namespace

void require_right_verdicts(const evaluators::EvaluationsFactory& devices, std::size_t count,
                            const std::string& kind, tasks::Task task) {
  tasks::take_baseline_of(task, kind);
  EvaluationRequest request;
  request.text = task.baseline;
  request.file_name = tasks::baseline_file(task);
  request.task = std::make_shared<const tasks::Task>(std::move(task));
  request.protocol.check = request.protocol.promotion = request.protocol.timing = false;
  request.protocol.counters = evaluators::Counting::Off;
  request.protocol.reuse = false;
  evaluators::OneByOne one_by_one(devices);
  judge_on_each(one_by_one, count, request, "the baseline",
                [](Verdict verdict) { return verdict == Verdict::Correct; });
  request.text = tasks::begin_kernels_with(request.text, kReturn);
  judge_on_each(one_by_one, count, request, "the baseline with kernels that return at once",
                is_wrong);
}

} // namespace winnow::remote
