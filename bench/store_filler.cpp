#include "bench/store_filler.h"

#include "agents/reply/reply.h"
#include "evaluators/evaluation/evaluation_request.h"
#include "search/event.h"
#include "search/outcome.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::bench {
namespace {

constexpr std::int64_t kInBatch = 256;
constexpr std::int64_t kLineages = 500; // of a task

} // namespace

StoreFiller::StoreFiller(harness::Journal& journal, const std::vector<tasks::Task>& tasks,
                         agents::ModelEndpoint& model)
    : journal_(journal), model_(model) {
  for (const tasks::Task& task : tasks) {
    Filled& filled = tasks_.emplace_back();
    filled.task = std::make_shared<const tasks::Task>(task);
    filled.row = journal_.add_task(task);
    store::CandidateRow row;
    row.task = task.name;
    row.origin = "baseline";
    row.text = task.baseline;
    filled.baseline = journal_.add_candidate(filled.row, row);
    judge(filled, filled.baseline, task.name, task.baseline);
  }
}

void StoreFiller::fill(std::int64_t evaluations, const std::function<void()>& counted) {
  for (std::int64_t begin = 0; begin < evaluations; begin += kInBatch) {
    journal_.batch([&] {
      for (std::int64_t i = begin; i < std::min(begin + kInBatch, evaluations); ++i) {
        const auto task = static_cast<std::size_t>(i) % tasks_.size();
        add(tasks_[task], i / static_cast<std::int64_t>(tasks_.size()));
        counted();
      }
    });
  }
}

void StoreFiller::add(Filled& filled, std::int64_t step) {
  agents::ModelRequest request;
  request.key = fmt::format("{}/{}/{}", filled.task->name, step % kLineages, step / kLineages);
  request.model = "made-up";
  request.messages = {{"user", "Write a faster kernel."}};
  agents::ModelReply reply;
  model_.start(request, [&](agents::ModelReply made) { reply = std::move(made); });
  const store::RowId candidate = add_candidate(filled, request, reply);
  judge(filled, candidate, request.key, *agents::extract_kernel_file(reply.text, "stop").text);
}

store::RowId StoreFiller::add_candidate(const Filled& filled, const agents::ModelRequest& request,
                                        const agents::ModelReply& reply) {
  search::Ask ask;
  ask.key = request.key;
  ask.parents = {filled.baseline};
  journal_.log(filled.row, search::Decided{ask, {}});
  const store::RowId call = journal_.begin_call(filled.row, request, model_.kind(), std::nullopt);
  journal_.finish_call(call, request, model_.kind(), reply);
  store::CandidateRow row;
  row.task = filled.task->name;
  row.call_key = request.key;
  row.parent_id = filled.baseline;
  row.origin = "model";
  row.text = *agents::extract_kernel_file(reply.text, reply.finish_reason).text;
  const store::RowId candidate = journal_.add_candidate(filled.row, row);
  journal_.log(filled.row, search::Added{candidate, request.key, 0, {}, {}});
  return candidate;
}

/// Races against the baseline.
void StoreFiller::judge(const Filled& filled, store::RowId candidate, const std::string& key,
                        const std::string& text) {
  evaluators::EvaluationRequest request;
  request.task = filled.task;
  request.text = text;
  request.file_name = "candidate.cu";
  if (candidate != filled.baseline) {
    request.incumbent = evaluators::KernelToBeat{filled.task->baseline, {}};
  }
  request.id = evaluators::request_id(request, candidate);
  journal_.log(filled.row, search::Decided{search::Evaluate{candidate}, {}});
  const tasks::Evaluation evaluation = verdicts_.of(request, 1);
  journal_.add_evaluations(candidate, {evaluation}, request.id);
  journal_.event("judged", {{"key", key},
                            {"verdict", to_string(evaluation.verdict)},
                            {"detail", evaluation.detail},
                            {harness::kElapsedSeconds, static_cast<double>(candidate)}});
  journal_.log(filled.row, search::Evaluated{candidate, search::outcome_of(evaluation, text)});
}

} // namespace winnow::bench
