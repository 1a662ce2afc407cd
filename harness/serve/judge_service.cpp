#include "harness/serve/judge_service.h"

#include "base/digest.h"
#include "harness/serve/judge_record.h"
#include "tasks/catalogue.h"

#include <charconv>
#include <exception>
#include <utility>

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

namespace winnow::harness {
namespace {

using nlohmann::json;
using tasks::Evaluation;

constexpr const char* kFileName = "kernel.cu"; // in messages about the kernel

void measure(evaluators::Protocol& protocol, const Measuring& measuring) {
  if (measuring.time_budget.count() > 0) {
    protocol.time_budget = measuring.time_budget;
  }
  const auto counters = evaluators::counting_from_string(measuring.counters);
  if (counters.value() != evaluators::Counting::Off) { // as `winnow profile`
    protocol.counters = *counters;
    protocol.energy = measuring.energy;
    protocol.warm = true;
    protocol.stop_when_lost = false;
    protocol.reuse = false;
  }
}

} // namespace

std::uint64_t hidden_draw_of(const std::string& run, const std::string& owner) {
  constexpr std::size_t kDigits = 15;
  constexpr int kHexadecimal = 16;
  const std::string digest = sha256_hex(run + " " + owner);
  std::uint64_t draw = 0;
  std::from_chars(digest.data(), digest.data() + kDigits, draw, kHexadecimal);
  return draw;
}

JudgeService::JudgeService(JudgeServiceSetup setup)
    : setup_(std::move(setup)), requests_(setup_.store), runs_(setup_) {}

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
  stored_ = requests_.stored_bytes();
  asked_ = requests_.asked_sums(setup_.run);
  for (const auto& [owner, bytes] : runs_.stored_bytes()) {
    stored_[owner] += bytes;
  }
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
  request.protocol.hidden_draw = options.hidden_draw;
  request.protocol.hidden_sizes = options.hidden_sizes;
  // A result of the same machine code may come from other inputs.
  // One of another owner would tell what that owner has sent.
  request.protocol.reuse = request.protocol.reuse && !options.fresh && !options.seed &&
                           setup_.owners == 1 && !setup_.has_board;
  if (!options.parameters.empty()) {
    request.choices = {options.parameters};
  }
  measure(request.protocol, options.measuring);
  request.depth =
      options.depth == JudgeDepth::Compile ? evaluators::Depth::Compile : evaluators::Depth::Full;
  if (options.rival != 0) {
    const store::CandidateState rival = setup_.store.candidate_state(options.rival);
    const tasks::Evaluation& best = rival.best.value();
    request.incumbent = evaluators::KernelToBeat{
        rival.row.text, best.parameters, {best.speedup, best.speedup_bounds}};
  }
  return request;
}

json JudgeService::declare_run(const Client& client, const RunDeclaration& run) {
  return runs_.declare(client, run, [&](std::uint64_t bytes) {
    require_storage(client.owner, bytes);
    stored_[client.owner] += bytes;
  });
}

/// `candidate`: 0 if only the store knows it.
void JudgeService::enqueue(const std::string& job, store::RowId candidate, const std::string& owner,
                           int priority) {
  if (const auto known = waiting_.find(job); known != waiting_.end()) {
    if (priority > known->second.priority) {
      known->second.priority = priority;
      queue_.raise(job, priority);
    }
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
    const store::JudgeJob row = requests_.find_job(job).value();
    const JobOptions options = decoded(row.options);
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
      keep(job, waiting);
    }
  } catch (
      const std::exception& error) { // the items wait until somebody asks again, or the next start
    spdlog::error("serve: cannot store the result of job {}: {}", job, error.what());
  }
}

void JudgeService::keep(const std::string& job, const Waiting& waiting) {
  std::vector<std::string> batches;
  setup_.store.transaction([&] {
    waiting.family->write(setup_.store, waiting.candidate);
    runs_.take_over(job);
    batches = requests_.answer(job, "");
  });
  stored_[waiting.owner] += waiting.family->more_evaluations() * store::kBytesOfChoice;
  store::AskedSums& sums = asked_[waiting.owner];
  sums.refused += waiting.family->is_refused() ? 1 : 0;
  sums.hidden_answers += static_cast<std::int64_t>(waiting.family->hidden_answers());
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

json JudgeService::result(const store::JudgeItemRow& item) const {
  const JobOptions options = decoded(requests_.find_job(item.job).value().options);
  const store::CandidateState state = setup_.store.candidate_state(item.candidate);
  const bool has_answer = item.fault.empty() && state.best.has_value();
  JobFacts facts{options.task, options.task_digest, options.depth, state.row.speedup_versus};
  facts.has_rival = options.rival != 0;
  if (has_answer) {
    facts.speed_of_light = light_of(options, *state.best).mean;
  }
  return result_json(item, facts, has_answer ? &*state.best : nullptr);
}

std::optional<std::string> JudgeService::record(const store::JudgeItemRow& item) const {
  const auto evaluation = setup_.store.candidate_state(item.candidate).best;
  if (!item.fault.empty() || !evaluation) {
    return std::nullopt;
  }
  const JobOptions options = decoded(requests_.find_job(item.job).value().options);
  JudgeRecord record{{item.job, "", {without_hidden(*evaluation)}, ""},
                     light_of(options, *evaluation)};
  if (options.max_variants > 1) {
    record.tuning = without_hidden(tuned_family(setup_.store, item.candidate));
  }
  if (setup_.allowance && setup_.allowance(item.owner)) {
    record.account = account(item.owner);
  }
  return written(record);
}

Account JudgeService::account(const std::string& owner) const {
  Account account;
  if (const auto known = asked_.find(owner); known != asked_.end()) {
    const store::AskedSums& sums = known->second;
    account.asked = static_cast<std::size_t>(sums.asked);
    account.evaluations = static_cast<std::size_t>(sums.asked - sums.refused);
    account.hidden_answers = static_cast<std::size_t>(sums.hidden_answers);
  }
  if (const auto allowance = setup_.allowance ? setup_.allowance(owner) : std::nullopt) {
    account.most = allowance->evaluations;
  }
  return account;
}

LightShares JudgeService::light_of(const JobOptions& options, const Evaluation& evaluation) const {
  if (!setup_.light || !(evaluation.score_ns > 0)) {
    return {};
  }
  try {
    const auto task = setup_.find_task(options.task);
    return task->digest == options.task_digest ? setup_.light(*task, evaluation) : LightShares{};
  } catch (const Error&) { // the catalogue has lost the task
    return {};
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
