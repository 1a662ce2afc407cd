// The part of JudgeService that takes requests in.
#include "agents/reply/reply.h"
#include "base/digest.h"
#include "base/random_bits.h"
#include "evaluators/evaluation/blank_evaluation.h"
#include "harness/serve/judge_service.h"
#include "tasks/catalogue.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/tuning/parameter_choices.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace winnow::harness {

using tasks::Evaluation;
using tasks::Verdict;

namespace {

std::string random_name() {
  return fmt::format("{:016x}{:016x}", random_bits(), random_bits());
}

/// Not 0, and without the sign bit of the store's integers.
std::uint64_t random_seed() {
  return (random_bits() >> 1U) | 1U;
}

/// What the store will keep of a request, about; as JudgeRequests::stored_bytes() counts it.
template <typename Items>
std::uint64_t bytes_of(const Items& items, const store::JudgeBatchRow& batch) {
  std::uint64_t bytes = batch.metadata.size();
  bool is_any_stored = false;
  for (const auto& item : items) {
    if (item.task) { // otherwise it is refused, and not stored
      bytes += item.text.size() + store::kBytesOfJudgeItem;
      bytes += item.declared ? item.reply.size() + store::kBytesOfDeclared : 0;
      is_any_stored = true;
    }
  }
  return is_any_stored ? bytes : 0;
}

/// What the inputs of a batch depend on: what is asked, but not how and when the answer comes.
std::string content_of(const std::string& owner, const JudgeRequest& request) {
  std::string text = fmt::format("{} {} {} {}", owner, to_string(request.depth),
                                 request.max_variants, request.race_against);
  for (const JudgeItem& item : request.items) {
    text += fmt::format(" {} {} {}", item.task, item.is_kernel, sha256_hex(item.text));
  }
  return sha256_hex(text);
}

/// The choice of the kernel file's plan that has these values; empty if there are none. nullopt:
/// the plan allows none.
std::optional<tasks::ParameterChoice> choice_of(const std::string& text,
                                                const tasks::ParameterChoice& values) {
  if (values.empty()) {
    return values;
  }
  try {
    const tasks::KernelFileResult parsed = tasks::parse_kernel_file(text, "");
    return parsed.kernel_file ? tasks::choice_with(parsed.kernel_file->plan, values) : std::nullopt;
  } catch (const tasks::ExpressionError&) {
    return std::nullopt;
  }
}

} // namespace

struct JudgeService::Named {
  std::shared_ptr<const tasks::Task> task; ///< nullptr: refused
  store::RowId rival = 0;                  ///< JudgeRequest::race_against
  std::string error;
};

struct JudgeService::Planned {
  AcceptedItem accepted;
  std::shared_ptr<const tasks::Task> task; ///< nullptr: refused
  std::string text;                        ///< the kernel file; the whole reply if it has none
  std::string bad_reply;                   ///< why the reply has no kernel file
  JobOptions options;
  std::optional<DeclaredCall> declared; ///< nullopt: it belongs to no declared run
  std::string reply;                    ///< the whole reply of a declared call
  bool has_evaluation = false;
  bool is_stored = false; ///< the store has the job, with its evaluation if the reply is bad
};

struct JudgeService::Acceptance {
  JudgeRequest request;    ///< items that were read have no text any more
  std::string owner, sees; ///< Client::sees()
  std::string reward = {}; ///< as the store has it
  store::JudgeBatchRow batch = {};
  std::optional<std::uint64_t> seed = std::nullopt;
  std::map<std::string, Named> tasks = {}; ///< by name; each is looked up once
  std::vector<Planned> items = {};         ///< those that were read
};

store::RowId JudgeService::rival_of(const Acceptance& asked, const std::string& task) const {
  const std::string_view name = asked.request.race_against;
  const auto rival =
      requests_.correct_candidate(name.substr(name.starts_with('@') ? 1 : 0), task, asked.sees);
  if (!rival) { // the same words whether another owner has it or nobody
    throw UsageError(
        "race_against: you have no correct kernel of " + task + " with this name",
        "name it by @ and its number, or by 4 or more hex digits of its file's digest");
  }
  return *rival;
}

std::optional<std::uint64_t> JudgeService::seed_for(const JudgeRequest& request,
                                                    const std::string& content) const {
  if (!setup_.seed_from_batch) {
    return std::nullopt;
  }
  const auto known = request.fresh ? std::nullopt : requests_.seed_of(content);
  return known ? static_cast<std::uint64_t>(*known) : random_seed();
}

const JudgeService::Named& JudgeService::named(const std::string& task, Acceptance& asked) const {
  const auto [at, is_new] = asked.tasks.try_emplace(task);
  Named& named = at->second;
  if (!is_new) {
    return named;
  }
  try {
    auto found = setup_.find_task(task);
    if (!asked.request.race_against.empty()) {
      named.rival = rival_of(asked, found->name);
    }
    named.task = std::move(found);
  } catch (const UsageError& error) {
    named.error = error.what();
  } catch (const Error& error) { // its text names files
    spdlog::error("serve: the task {}: {}", task, error.what());
    named.error = "the task cannot be read; the server's log says why";
  }
  return named;
}

/// What does not depend on the time: answers and jobs come before the last item is read.
JudgeService::Planned JudgeService::plan(JudgeItem& item, Acceptance& asked_for) const {
  const JudgeRequest& request = asked_for.request;
  Planned planned;
  planned.accepted = {item.id, "", "refused", item.problem};
  if (!item.problem.empty()) {
    return planned;
  }
  const Named& named_task = named(item.task, asked_for);
  planned.task = named_task.task;
  if (!planned.task) {
    planned.accepted.error = named_task.error;
    return planned;
  }
  planned.options = {planned.task->name, planned.task->digest, request.depth,  request.fresh,
                     named_task.rival,   request.max_variants, asked_for.seed, {},
                     request.measuring};
  planned.text = std::move(item.text);
  planned.declared = std::move(item.declared);
  planned.reply = planned.declared && !item.is_kernel ? planned.text : "";
  planned.bad_reply = item.bad_reply;
  if (!item.is_kernel && planned.bad_reply.empty()) {
    agents::ExtractedKernel kernel = agents::extract_kernel_file(planned.text, "");
    planned.bad_reply = kernel.text ? "" : kernel.problem;
    if (kernel.text) {
      planned.text = *std::move(kernel.text);
    }
  }
  if (planned.bad_reply.empty()) {
    const auto choice = choice_of(planned.text, item.parameters);
    if (!choice) {
      planned.task.reset();
      planned.accepted.error = "the plan of the kernel has no choice with these parameters";
      return planned;
    }
    planned.options.parameters = *choice;
  }
  if (const auto allowance = setup_.allowance ? setup_.allowance(asked_for.owner) : std::nullopt) {
    planned.options.hidden_draw = allowance->hidden_draw;
  }
  const auto asked = evaluation_request(planned.task, planned.text, planned.options);
  planned.accepted.job = sha256_hex(fmt::format(
      "{} {} {} {} {} {}{}{}", asked_for.owner, setup_.run, setup_.device_kind, setup_.device_name,
      evaluators::request_id(asked, 0), request.fresh ? random_name() : std::string(),
      request.max_variants > 1 ? fmt::format(" {}", request.max_variants) : "",
      item.bad_reply.empty() ? "" : " unread"));
  if (planned.options.hidden_draw) { // after the job's name: the same kernel again is the same job
    planned.options.hidden_sizes = random_seed();
  }
  return planned;
}

/// What the store knows of an item, in the same piece of work that stores it.
void JudgeService::look_up(Planned& planned) const {
  if (!planned.task) {
    return;
  }
  const std::optional<store::JudgeJob> known = requests_.find_job(planned.accepted.job);
  planned.has_evaluation = !planned.bad_reply.empty() || (known && known->has_evaluation);
  planned.is_stored = known && (planned.bad_reply.empty() || known->has_evaluation);
  planned.accepted.state = planned.has_evaluation ? "done" : "queued";
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

void JudgeService::require_allowance(const std::string& owner,
                                     const std::vector<Planned>& items) const {
  const auto allowance = setup_.allowance ? setup_.allowance(owner) : std::nullopt;
  std::set<std::string> added;
  for (const Planned& item : items) {
    if (item.task && !item.is_stored) {
      added.insert(item.accepted.job);
    }
  }
  if (!allowance || added.empty()) {
    return;
  }
  constexpr std::size_t kAskedForEach = 10;
  const auto [asked, used, hidden, most] = account(owner);
  const std::size_t left = allowance->evaluations - std::min(allowance->evaluations, used);
  if (asked + added.size() > kAskedForEach * allowance->evaluations) {
    throw UsageError(
        fmt::format("you have asked about {} kernels, most of which do not compile", asked),
        "finish with the best kernel that you have");
  }
  if (added.size() > left) {
    throw UsageError(fmt::format("you may have {} kernels judged, and {} were: {} are left",
                                 allowance->evaluations, used, left),
                     left > 0 ? fmt::format("send {} at most", left)
                              : "finish with the best kernel that you have");
  }
}

void JudgeService::require_storage(const std::string& owner, std::uint64_t bytes) const {
  const auto known = stored_.find(owner);
  const std::uint64_t own = known == stored_.end() ? 0 : known->second;
  if (own + bytes > setup_.owner_bytes) {
    throw UsageError(
        fmt::format("your token has stored {} MB of kernels and replies, and may store {} MB",
                    own >> 20U, setup_.owner_bytes >> 20U),
        "ask who runs the server for a new --store or a larger --owner-megabytes");
  }
}

store::RowId JudgeService::task_row(const Planned& planned, TaskRows& tasks) {
  const auto [task, is_new] = tasks.try_emplace(planned.task.get());
  if (is_new) { // takes longer than all the rest
    task->second = setup_.store.add_task(*planned.task);
  }
  return task->second;
}

/// The candidate of a kernel that belongs to no declared run.
store::RowId JudgeService::store_candidate(const Planned& planned, store::RowId task) {
  store::CandidateRow candidate;
  candidate.task = planned.task->name;
  candidate.origin = "model";
  candidate.call_key = planned.accepted.job;
  candidate.text = planned.text;
  return setup_.store.add_candidate(setup_.run, task, candidate);
}

void JudgeService::store_job(const Planned& planned, store::RowId candidate) {
  requests_.add_job({planned.accepted.job, candidate, encoded(planned.options)});
  if (!planned.bad_reply.empty()) {
    Evaluation bad = evaluators::blank_evaluation(setup_.device_kind, setup_.device_name);
    bad.verdict = Verdict::BadReply;
    bad.stage = tasks::Stage::Parse;
    bad.detail = planned.bad_reply;
    setup_.store.add_evaluations(requests_.find_job(planned.accepted.job).value().candidate, {bad});
  }
}

/// A kernel that is new, and what its loop says about it.
void JudgeService::store_item(const Planned& item, bool is_new_job, const Acceptance& asked,
                              TaskRows& tasks, LoopRuns::KnownRuns& runs) {
  const std::string& job = item.accepted.job;
  store::RowId declared = 0; // the candidate of the call
  if (item.declared) {
    declared =
        runs_.add({*item.declared, *item.task, asked.owner, asked.sees, item.text, item.reply},
                  task_row(item, tasks), runs);
  }
  if (is_new_job) {
    const bool is_candidate_free = declared != 0 && !runs_.has_job(declared);
    store_job(item, is_candidate_free ? declared : store_candidate(item, task_row(item, tasks)));
  }
  if (declared != 0) {
    runs_.link(declared, job);
  }
}

void JudgeService::store_batch(const std::vector<Planned>& items, const Acceptance& asked) {
  if (std::none_of(items.begin(), items.end(), [](const Planned& item) { return item.task; })) {
    return; // all are refused
  }
  setup_.store.transaction([&] {
    requests_.add_batch(asked.batch);
    TaskRows tasks;
    LoopRuns::KnownRuns runs;
    std::set<std::pair<std::string, bool>> stored; // equal items have one job
    std::vector<std::string> answered;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const AcceptedItem& item = items[i].accepted;
      if (items[i].task) {
        store::JudgeItemRow row{asked.batch.batch, static_cast<std::int64_t>(i),
                                item.id,           item.job,
                                asked.owner,       asked.reward};
        row.cached = items[i].has_evaluation && items[i].bad_reply.empty();
        const bool is_first = stored.emplace(item.job, items[i].bad_reply.empty()).second;
        store_item(items[i], is_first && !items[i].is_stored, asked, tasks, runs);
        if (is_first && items[i].has_evaluation) {
          answered.push_back(item.job);
        }
        requests_.add_item(row);
      }
    }
    for (const std::string& job : answered) {
      requests_.answer(job, "");
      runs_.take_over(job);
    }
  });
}

std::shared_ptr<JudgeService::Acceptance>
JudgeService::begin(const std::string& owner, JudgeRequest request, bool reads_all) const {
  const RewardFormula& reward =
      setup_.rewards.find(request.reward.empty() ? setup_.reward : request.reward);
  auto begun = std::make_shared<Acceptance>(
      Acceptance{std::move(request), owner, reads_all ? "" : owner, stored_reward(reward)});
  begun->batch = {"b-" + random_name(), begun->request.priority, begun->request.metadata};
  begun->batch.content = setup_.seed_from_batch ? content_of(owner, begun->request) : "";
  begun->seed = seed_for(begun->request, begun->batch.content);
  if (begun->seed) {
    begun->batch.seed = static_cast<std::int64_t>(*begun->seed);
  }
  return begun;
}

std::optional<AcceptedBatch> JudgeService::go_on(Acceptance& acceptance,
                                                 std::chrono::steady_clock::time_point until) {
  std::vector<JudgeItem>& items = acceptance.request.items;
  do {
    acceptance.items.push_back(plan(items.at(acceptance.items.size()), acceptance));
  } while (acceptance.items.size() < items.size() && std::chrono::steady_clock::now() < until);
  return acceptance.items.size() < items.size() ? std::nullopt : std::optional(accept(acceptance));
}

/// A job is of one owner, and an owner's kernel counts once.
void JudgeService::count_new(const std::vector<Planned>& items, store::AskedSums& sums) {
  std::set<std::string> counted;
  for (const Planned& item : items) {
    if (item.task && !item.is_stored && counted.insert(item.accepted.job).second) {
      sums.asked += 1;
      sums.refused += item.bad_reply.empty() ? 0 : 1;
    }
  }
}

/// All items were read: takes all of them, or throws and takes none.
AcceptedBatch JudgeService::accept(Acceptance& acceptance) {
  const std::string& owner = acceptance.owner;
  std::vector<Planned>& items = acceptance.items;
  for (Planned& item : items) {
    look_up(item);
  }
  require_allowance(owner, items);
  require_room(owner, items);
  const std::uint64_t bytes = bytes_of(items, acceptance.batch);
  require_storage(owner, bytes);
  store_batch(items, acceptance);
  stored_[owner] += bytes;
  count_new(items, asked_[owner]);
  for (const Planned& item : items) {
    if (item.accepted.state == "queued") {
      enqueue(item.accepted.job, 0, owner, acceptance.request.priority);
    }
  }
  submit_next();
  return {acceptance.batch.batch, with_states(std::move(items))};
}

std::vector<AcceptedItem> JudgeService::with_states(std::vector<Planned> items) const {
  std::vector<AcceptedItem> accepted;
  for (Planned& planned : items) {
    AcceptedItem item = std::move(planned.accepted);
    if (item.state == "queued") {
      const std::string state = state_of(item.job);
      item.state = state.empty() ? "done" : state; // answered by a fault at once
    }
    accepted.push_back(std::move(item));
  }
  return accepted;
}

} // namespace winnow::harness
