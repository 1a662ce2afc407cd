#include "harness/serve/judge_service.h"

#include "agents/reply.h"
#include "base/digest.h"
#include "base/json_dump.h"
#include "base/random_bits.h"
#include "evaluators/evaluation/evaluator.h"
#include "search/outcome.h"

#include <algorithm>
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

/// Not 0, and without the sign bit of the store's integers.
std::uint64_t random_seed() {
  return (random_bits() >> 1U) | 1U;
}

/// What the inputs of a batch depend on: what is asked, but not how and when the answer comes.
std::string content_of(const JudgeRequest& request) {
  std::string text =
      fmt::format("{} {} {}", to_string(request.depth), request.max_variants, request.race_against);
  for (const JudgeItem& item : request.items) {
    text += fmt::format(" {} {} {}", item.task, item.is_kernel, sha256_hex(item.text));
  }
  return sha256_hex(text);
}

} // namespace

struct JudgeService::JobOptions {
  std::string task, task_digest;
  JudgeDepth depth = JudgeDepth::Full;
  bool fresh = false;
  store::RowId rival = 0;       ///< the candidate to race against; 0: none
  std::size_t max_variants = 1; ///< JudgeRequest::max_variants
  std::optional<std::uint64_t> seed =
      std::nullopt; ///< of the inputs; nullopt: the evaluation's own
};

struct JudgeService::Asked {
  const JudgeRequest& request;
  std::optional<std::uint64_t> seed;
};

std::string JudgeService::encoded(const JobOptions& options) {
  return json_line({{"task", options.task},
                    {"task_digest", options.task_digest},
                    {"depth", to_string(options.depth)},
                    {"fresh", options.fresh},
                    {"rival", options.rival},
                    {"max_variants", options.max_variants},
                    {"seed", options.seed ? json(*options.seed) : json()}});
}

JudgeService::JobOptions JudgeService::decoded(const std::string& text) {
  const json document = json::parse(text);
  const json seed = document.value("seed", json());
  return {document.at("task").get<std::string>(),
          document.at("task_digest").get<std::string>(),
          depth_from_string(document.at("depth").get<std::string>()),
          document.at("fresh").get<bool>(),
          document.at("rival").get<store::RowId>(),
          document.value("max_variants", std::size_t{1}), // earlier versions wrote neither
          seed.is_null() ? std::nullopt : std::optional(seed.get<std::uint64_t>())};
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
    enqueue(job.job, job.candidate, job.owner, job.priority);
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
  if (options.seed) {
    request.protocol.seed = options.seed;
  }
  // A result of the same machine code may come from other inputs.
  request.protocol.reuse = request.protocol.reuse && !options.fresh && !options.seed;
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

std::optional<std::uint64_t> JudgeService::seed_for(const JudgeRequest& request,
                                                    const std::string& content) const {
  if (!setup_.seed_from_batch) {
    return std::nullopt;
  }
  const auto known = request.fresh ? std::nullopt : requests_.seed_of(content);
  return known ? static_cast<std::uint64_t>(*known) : random_seed();
}

JudgeService::Planned JudgeService::plan(const JudgeItem& item, const Asked& asked_for) const {
  const JudgeRequest& request = asked_for.request;
  Planned planned;
  planned.accepted = {item.id, "", "refused", item.problem};
  if (!item.problem.empty()) {
    return planned;
  }
  try {
    const auto task = setup_.find_task(item.task);
    planned.options = {task->name, task->digest,         request.depth, request.fresh,
                       0,          request.max_variants, asked_for.seed};
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
      fmt::format("{} {} {} {} {}{}", setup_.run, setup_.device_kind, setup_.device_name,
                  evaluators::request_id(asked, 0), request.fresh ? random_name() : std::string(),
                  request.max_variants > 1 ? fmt::format(" {}", request.max_variants) : ""));
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

void JudgeService::store_batch(const std::vector<Planned>& items, const store::JudgeBatchRow& batch,
                               const std::string& owner, const std::string& reward) {
  if (std::none_of(items.begin(), items.end(), [](const Planned& item) { return item.task; })) {
    return; // all are refused
  }
  setup_.store.transaction([&] {
    requests_.add_batch(batch);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const AcceptedItem& item = items[i].accepted;
      if (items[i].task) {
        store::JudgeItemRow row{batch.batch, static_cast<std::int64_t>(i), item.id, item.job, owner,
                                reward};
        row.cached = items[i].has_evaluation && items[i].bad_reply.empty();
        store_item(items[i], row);
      }
    }
  });
}

AcceptedBatch JudgeService::accept(const std::string& owner, const JudgeRequest& request) {
  const RewardFormula& reward =
      setup_.rewards.find(request.reward.empty() ? setup_.reward : request.reward);
  store::JudgeBatchRow batch{"b-" + random_name(), request.priority, request.metadata};
  batch.content = setup_.seed_from_batch ? content_of(request) : "";
  const std::optional<std::uint64_t> seed = seed_for(request, batch.content);
  if (seed) {
    batch.seed = static_cast<std::int64_t>(*seed);
  }
  std::vector<Planned> items;
  for (const JudgeItem& item : request.items) {
    items.push_back(plan(item, {request, seed}));
  }
  require_room(owner, items);
  store_batch(items, batch, owner, stored_reward(reward));
  for (const Planned& item : items) {
    if (item.accepted.state == "queued") {
      enqueue(item.accepted.job, 0, owner, request.priority);
    }
  }
  submit_next();
  return {batch.batch, with_states(std::move(items), owner)};
}

std::vector<AcceptedItem> JudgeService::with_states(std::vector<Planned> items,
                                                    const std::string& owner) const {
  const std::map<std::string, std::size_t> positions = queue_.positions(owner);
  std::vector<AcceptedItem> accepted;
  for (Planned& planned : items) {
    AcceptedItem item = std::move(planned.accepted);
    if (item.state == "queued") {
      const std::string state = state_of(item.job);
      item.state = state.empty() ? "done" : state; // answered by a fault at once
      const auto position = positions.find(item.job);
      item.position = position == positions.end() ? 0 : position->second;
    }
    accepted.push_back(std::move(item));
  }
  return accepted;
}

/// `candidate`: 0 if only the store knows it.
void JudgeService::enqueue(const std::string& job, store::RowId candidate, const std::string& owner,
                           int priority) {
  if (const auto known = waiting_.find(job); known != waiting_.end()) {
    known->second.priority = std::max(known->second.priority, priority);
    queue_.raise(job, priority);
    return;
  }
  if (candidate == 0) {
    candidate = requests_.find_job(job).value().candidate;
  }
  Waiting& waiting = waiting_[job];
  waiting.candidate = candidate;
  waiting.owner = owner;
  waiting.priority = priority;
  queue_.push(owner, job, priority);
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
    waiting.family = std::make_unique<FamilyJudgement>(
        evaluation_request(std::move(task), setup_.store.candidate(waiting.candidate).text,
                           options),
        options.max_variants);
    submit_next_of(job, waiting);
  } catch (const std::exception& error) {
    fault(job, std::exchange(waiting, {}), error.what());
    waiting_.erase(job);
  }
}

/// Asks for the next evaluation of a job.
void JudgeService::submit_next_of(const std::string& job, Waiting& waiting) {
  // Tells the evaluations of a job apart: a heat is asked for again after a fault.
  constexpr unsigned kBitsOfCandidate = 40;
  evaluators::EvaluationRequest request = waiting.family->next();
  request.id = evaluators::request_id(request, waiting.candidate +
                                                   (waiting.evaluations++ << kBitsOfCandidate));
  waiting.request = request.id;
  running_[request.id] = job;
  evaluations_->submit(std::move(request));
}

void JudgeService::take(const evaluators::EvaluationResult& result) {
  const auto running = running_.find(result.id);
  if (running == running_.end()) {
    return;
  }
  const std::string job = running->second;
  running_.erase(running);
  Waiting& waiting = waiting_.at(job);
  std::optional<std::string> problem;
  try {
    const bool has_more = waiting.family->take(result);
    if (has_more && !waiting.is_cancelled) {
      submit_next_of(job, waiting);
      return;
    }
    problem = has_more ? std::optional("cancelled") : std::nullopt;
  } catch (const std::exception& error) {
    problem = error.what();
  }
  const Waiting ended = std::move(waiting);
  waiting_.erase(job);
  end(job, ended, problem);
  submit_next();
}

/// `problem`: why there is no verdict.
void JudgeService::end(const std::string& job, const Waiting& waiting,
                       const std::optional<std::string>& problem) {
  try {
    if (problem) {
      fault(job, waiting, *problem);
    } else {
      record(job, waiting);
    }
  } catch (
      const std::exception& error) { // the items wait until somebody asks again, or the next start
    spdlog::error("serve: cannot store the result of job {}: {}", job, error.what());
  }
}

void JudgeService::record(const std::string& job, const Waiting& waiting) {
  std::vector<std::string> batches;
  setup_.store.transaction([&] {
    waiting.family->write(setup_.store, waiting.candidate);
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
      enqueue(job, waiting.candidate, waiting.owner, waiting.priority);
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
  JobFacts facts{options.task, options.task_digest, options.depth, state.row.speedup_versus};
  facts.has_rival = options.rival != 0;
  if (has_answer) {
    facts.speed_of_light = speed_of_light_of(options, *state.best);
  }
  return result_json(item, facts, has_answer ? &*state.best : nullptr);
}

std::optional<double> JudgeService::speed_of_light_of(const JobOptions& options,
                                                      const Evaluation& evaluation) const {
  if (!setup_.speed_of_light || !(evaluation.score_ns > 0)) {
    return std::nullopt;
  }
  try {
    const auto task = setup_.find_task(options.task);
    return task->digest == options.task_digest ? setup_.speed_of_light(*task, evaluation)
                                               : std::nullopt;
  } catch (const Error&) { // the catalogue has lost the task
    return std::nullopt;
  }
}

std::string JudgeService::state_of(const std::string& job) const {
  const auto waiting = waiting_.find(job);
  return waiting == waiting_.end() ? "" : waiting->second.request.empty() ? "queued" : "running";
}

ServiceState JudgeService::state() const {
  return {queue_.size(), running_.size(), answered_, faults_, rate_.per_second(), last_fault_};
}

} // namespace winnow::harness
