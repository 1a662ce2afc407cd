#include "harness/serve/judge_service.h"

#include "agents/reply.h"
#include "base/digest.h"
#include "base/json_dump.h"
#include "base/random_bits.h"
#include "evaluators/evaluation/evaluator.h"
#include "harness/serve/judge_result.h"
#include "search/outcome.h"

#include <exception>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

namespace winnow::harness {
namespace {

using nlohmann::json;
using tasks::Evaluation;
using tasks::Verdict;

constexpr const char* kFileName = "kernel.cu"; // in messages about the kernel

std::string random_name() {
  return fmt::format("{:016x}{:016x}", random_bits(), random_bits());
}

Verdict verdict_of(const evaluators::EvaluationResult& result) {
  return result.evaluations.empty() ? Verdict::Infrastructure : result.evaluations.front().verdict;
}

} // namespace

struct JudgeService::JobOptions {
  std::string task, task_digest;
  JudgeDepth depth = JudgeDepth::Full;
  bool fresh = false;
  store::RowId rival = 0; ///< the candidate to race against; 0: none
};

std::string JudgeService::encoded(const JobOptions& options) {
  return json_line({{"task", options.task},
                    {"task_digest", options.task_digest},
                    {"depth", to_string(options.depth)},
                    {"fresh", options.fresh},
                    {"rival", options.rival}});
}

JudgeService::JobOptions JudgeService::decoded(const std::string& text) {
  const json document = json::parse(text);
  return {document.at("task").get<std::string>(), document.at("task_digest").get<std::string>(),
          depth_from_string(document.at("depth").get<std::string>()),
          document.at("fresh").get<bool>(), document.at("rival").get<store::RowId>()};
}

struct JudgeService::Planned {
  AcceptedItem accepted;
  std::shared_ptr<const tasks::Task> task; ///< nullptr: refused
  std::string text;                        ///< the kernel file; the whole reply if it has none
  std::string bad_reply;                   ///< why the reply has no kernel file
  JobOptions options;
  bool has_evaluation = false;
};

JudgeService::JudgeService(JudgeServiceSetup setup)
    : setup_(std::move(setup)), requests_(setup_.store) {}

JudgeService::~JudgeService() {
  if (evaluations_) {
    evaluations_->stop();
  }
}

void JudgeService::start() {
  evaluations_ = setup_.evaluations([this, post = setup_.post, alive = std::weak_ptr(is_alive_)](
                                        evaluators::EvaluationResult result) {
    post([this, alive, result = std::move(result)] {
      if (!alive.expired()) {
        take(result);
      }
    });
  });
  for (const store::JudgeJob& job : requests_.pending_jobs(setup_.run)) {
    enqueue(job.job, job.candidate, job.owner);
  }
  submit_next();
}

evaluators::EvaluationRequest
JudgeService::evaluation_request(std::shared_ptr<const tasks::Task> task, std::string text,
                                 const JobOptions& options) const {
  evaluators::EvaluationRequest request;
  request.task = std::move(task);
  request.text = std::move(text);
  request.file_name = kFileName;
  request.protocol = setup_.protocol;
  request.protocol.timing = options.depth == JudgeDepth::Full;
  request.protocol.reuse = request.protocol.reuse && !options.fresh;
  request.depth =
      options.depth == JudgeDepth::Compile ? evaluators::Depth::Compile : evaluators::Depth::Full;
  if (options.rival != 0) {
    const store::CandidateState rival = setup_.store.candidate_state(options.rival);
    request.incumbent = evaluators::KernelToBeat{rival.row.text, rival.best.value().parameters};
  }
  return request;
}

store::RowId JudgeService::rival_named(const std::string& name, const std::string& task) const {
  const store::RowId id = setup_.store.candidate_named(
      std::string_view(name).substr(name.starts_with('@') ? 1 : 0), task);
  const store::CandidateState rival = setup_.store.candidate_state(id);
  if (rival.row.task != task || !rival.best || rival.best->verdict != Verdict::Correct) {
    throw UsageError(
        fmt::format("race_against: candidate {} is no correct kernel of {}", id, task));
  }
  return id;
}

JudgeService::Planned JudgeService::plan(const JudgeItem& item, const JudgeRequest& request) const {
  Planned planned;
  planned.accepted = {item.id, "", "refused", item.problem};
  if (!item.problem.empty()) {
    return planned;
  }
  try {
    const auto task = setup_.find_task(item.task);
    planned.options = {task->name, task->digest, request.depth, request.fresh, 0};
    if (!request.race_against.empty()) {
      planned.options.rival = rival_named(request.race_against, task->name);
    }
    planned.task = task;
  } catch (const Error& error) {
    planned.accepted.error = error.what();
    return planned;
  }
  planned.text = item.text;
  if (!item.is_kernel) {
    agents::ExtractedKernel kernel = agents::extract_kernel_file(item.text, "stop");
    planned.bad_reply = kernel.text ? "" : kernel.problem;
    planned.text = kernel.text ? *std::move(kernel.text) : item.text;
  }
  const auto asked = evaluation_request(planned.task, planned.text, planned.options);
  planned.accepted.job = sha256_hex(
      fmt::format("{} {} {} {} {}", setup_.run, setup_.device_kind, setup_.device_name,
                  evaluators::request_id(asked, 0), request.fresh ? random_name() : std::string()));
  const std::optional<store::JudgeJob> known = requests_.find_job(planned.accepted.job);
  planned.has_evaluation = !planned.bad_reply.empty() || (known && known->has_evaluation);
  planned.accepted.state = planned.has_evaluation ? "done" : "queued";
  return planned;
}

void JudgeService::require_room(const std::string& owner, const std::vector<Planned>& items) const {
  std::set<std::string> added;
  for (const Planned& item : items) {
    if (item.accepted.state == "queued" && !waiting_.contains(item.accepted.job)) {
      added.insert(item.accepted.job);
    }
  }
  const std::size_t share = std::max<std::size_t>(setup_.queue / setup_.owners, 1);
  const std::size_t own = queue_.size_of(owner) + added.size(), all = queue_.size() + added.size();
  if (added.empty() || (own <= share && all <= setup_.queue)) {
    return;
  }
  if (added.size() > share) {
    throw UsageError(fmt::format("the request has {} kernels to judge, and the queue has room for "
                                 "{} of one client",
                                 added.size(), share),
                     "send fewer items, or start the server with a larger --queue");
  }
  const std::size_t excess =
      std::max(own - std::min(own, share), all - std::min(all, setup_.queue));
  throw QueueFull(fmt::format("{} jobs wait already", queue_.size()), rate_.seconds_for(excess));
}

void JudgeService::store_item(const Planned& planned, const store::JudgeItemRow& row) {
  store::CandidateRow candidate;
  candidate.task = planned.task->name;
  candidate.origin = "model";
  candidate.call_key = row.job;
  candidate.text = planned.text;
  const store::RowId id =
      setup_.store.add_candidate(setup_.run, setup_.store.add_task(*planned.task), candidate);
  requests_.add_job({row.job, id, encoded(planned.options)});
  if (!planned.bad_reply.empty()) {
    Evaluation bad = evaluators::blank_evaluation(setup_.device_kind, setup_.device_name);
    bad.verdict = Verdict::BadReply;
    bad.stage = tasks::Stage::Parse;
    bad.detail = planned.bad_reply;
    setup_.store.add_evaluations(id, {bad});
  }
  requests_.add_item(row);
  if (planned.has_evaluation) {
    requests_.answer(row.job, "");
  }
}

AcceptedBatch JudgeService::accept(const std::string& owner, const JudgeRequest& request) {
  std::vector<Planned> items;
  for (const JudgeItem& item : request.items) {
    items.push_back(plan(item, request));
  }
  require_room(owner, items);
  AcceptedBatch accepted{"b-" + random_name(), {}, 0};
  const std::string reward(to_string(request.reward.value_or(setup_.reward)));
  setup_.store.transaction([&] {
    for (std::size_t i = 0; i < items.size(); ++i) {
      const AcceptedItem& item = items[i].accepted;
      if (items[i].task) {
        store_item(items[i], {accepted.batch, static_cast<std::int64_t>(i), item.id, item.job,
                              owner, reward});
      }
    }
  });
  for (Planned& item : items) {
    if (item.accepted.state == "queued") {
      ++accepted.waiting;
      enqueue(item.accepted.job, 0, owner);
    }
  }
  submit_next();
  for (Planned& item : items) {
    if (item.accepted.state == "queued") {
      const std::string state = state_of(item.accepted.job);
      item.accepted.state = state.empty() ? "done" : state; // answered by a fault at once
    }
    accepted.items.push_back(std::move(item.accepted));
  }
  return accepted;
}

/// `candidate`: 0 if only the store knows it.
void JudgeService::enqueue(const std::string& job, store::RowId candidate,
                           const std::string& owner) {
  if (waiting_.contains(job)) {
    return;
  }
  if (candidate == 0) {
    candidate = requests_.find_job(job).value().candidate;
  }
  waiting_[job] = {candidate, owner, "", false};
  queue_.push(owner, job);
}

void JudgeService::submit_next() {
  while (running_.size() < setup_.in_flight) {
    const std::optional<std::string> job = queue_.pop();
    if (!job) {
      return;
    }
    submit(*job);
  }
}

void JudgeService::submit(const std::string& job) {
  Waiting& waiting = waiting_.at(job);
  try {
    const JobOptions options = decoded(requests_.find_job(job).value().options);
    std::shared_ptr<const tasks::Task> task = setup_.find_task(options.task);
    if (task->digest != options.task_digest) {
      throw Error("the task " + options.task + " has changed since the kernel was sent");
    }
    evaluators::EvaluationRequest request = evaluation_request(
        std::move(task), setup_.store.candidate(waiting.candidate).text, options);
    request.id = evaluators::request_id(request, waiting.candidate);
    waiting.request = request.id;
    running_[request.id] = job;
    evaluations_->submit(std::move(request));
  } catch (const std::exception& error) {
    fault(job, std::exchange(waiting, {}), error.what());
    waiting_.erase(job);
  }
}

void JudgeService::take(const evaluators::EvaluationResult& result) {
  const auto running = running_.find(result.id);
  if (running == running_.end()) {
    return;
  }
  const std::string job = running->second;
  const Waiting waiting = waiting_.at(job);
  running_.erase(running);
  waiting_.erase(job);
  try {
    if (verdict_of(result) == Verdict::Infrastructure) {
      fault(job, waiting,
            result.evaluations.empty() ? result.fault : result.evaluations.front().detail);
    } else {
      record(job, waiting, result);
    }
  } catch (
      const std::exception& error) { // the items wait until somebody asks again, or the next start
    spdlog::error("serve: cannot store the result of job {}: {}", job, error.what());
  }
  submit_next();
}

void JudgeService::record(const std::string& job, const Waiting& waiting,
                          const evaluators::EvaluationResult& result) {
  Evaluation evaluation = result.evaluations.front();
  evaluation.promoted = search::may_lead(search::outcome_of(evaluation, ""), nullptr);
  std::vector<std::string> batches;
  setup_.store.transaction([&] {
    setup_.store.add_evaluations(waiting.candidate, {evaluation}, result.id);
    batches = requests_.answer(job, "");
  });
  rate_.count(std::chrono::steady_clock::now());
  ++answered_;
  last_fault_.clear();
  tell(batches);
}

void JudgeService::fault(const std::string& job, const Waiting& waiting,
                         const std::string& detail) {
  if (waiting.is_cancelled) {
    if (requests_.is_waited_for(job)) { // somebody has asked again meanwhile
      enqueue(job, waiting.candidate, waiting.owner);
    }
    return;
  }
  spdlog::warn("serve: nobody could judge job {}: {}", job, detail);
  ++faults_;
  last_fault_ = detail;
  tell(requests_.answer(job, "infrastructure: " + detail));
}

void JudgeService::tell(const std::vector<std::string>& batches) const {
  for (const std::string& batch : batches) {
    if (on_answer) {
      on_answer(batch);
    }
  }
}

bool JudgeService::cancel(const std::string& owner, const std::string& job) {
  const std::vector<std::string> batches = requests_.answer(job, "cancelled", owner);
  const auto waiting = waiting_.find(job);
  if (!batches.empty() && waiting != waiting_.end() && !requests_.is_waited_for(job)) {
    if (queue_.remove(job)) {
      waiting_.erase(waiting);
    } else {
      waiting->second.is_cancelled = true;
      evaluations_->cancel(waiting->second.request);
    }
  }
  tell(batches);
  return !batches.empty();
}

std::vector<json> JudgeService::results(const std::string& batch, std::int64_t after,
                                        std::int64_t limit) const {
  std::vector<json> list;
  for (const store::JudgeItemRow& item : requests_.answered(batch, after, limit)) {
    list.push_back(result(item));
  }
  return list;
}

json JudgeService::result(const store::JudgeItemRow& item) const {
  const JobOptions options = decoded(requests_.find_job(item.job).value().options);
  const store::CandidateState state = setup_.store.candidate_state(item.candidate);
  const bool has_answer = item.fault.empty() && state.best.has_value();
  return result_json(item,
                     {options.task, options.task_digest, options.depth, state.row.speedup_versus},
                     has_answer ? &*state.best : nullptr);
}

std::string JudgeService::state_of(const std::string& job) const {
  const auto waiting = waiting_.find(job);
  return waiting == waiting_.end() ? "" : waiting->second.request.empty() ? "queued" : "running";
}

ServiceState JudgeService::state() const {
  return {queue_.size(), running_.size(), answered_, faults_, rate_.per_second(), last_fault_};
}

} // namespace winnow::harness
