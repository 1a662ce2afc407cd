// The part of RemoteEvaluations that decides whether a result needs the answer of another worker,
// and that finds workers that lie.
#include "base/digest.h"
#include "base/error.h"
#include "remote/remote_evaluations.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

namespace winnow::remote {
namespace {

using evaluators::Depth;
using evaluators::EvaluationRequest;
using tasks::Evaluation;
using tasks::Verdict;

/// So often a job may go to a worker whose answer does not help.
constexpr int kMostUselessResults = 8;
/// Requests that wait for an answer of a trusted worker, for each of these workers.
constexpr int kMostAtTrustedWorker = 2;
/// The share of the results that need a second answer whatever they say.
constexpr double kDrawnShare = 0.05;
constexpr std::size_t kDrawDigits = 8;
constexpr double kDrawRange = 4294967296.0; // 16 to the power of kDrawDigits

bool has_answered(const std::vector<Answer>& answers, const std::string& worker) {
  return std::any_of(answers.begin(), answers.end(),
                     [&](const Answer& answer) { return answer.worker == worker; });
}

std::string names_of(const std::vector<Answer>& answers) {
  std::string names;
  for (const Answer& answer : answers) {
    names += (names.empty() ? "'" : ", '") + answer.worker + "'";
  }
  return names;
}

} // namespace

/// A worker that was not known to be trusted proves it when it answers from the trusted workers'
/// queue, even if it has answered before.
bool RemoteEvaluations::is_useless(const Pending& pending, const std::string& worker) const {
  return trust_.is_quarantined(worker) ||
         (has_answered(pending.answers, worker) && !pending.address.trusted);
}

/// The job waits longer and longer for another worker, in the end as long as `other_worker`.
void RemoteEvaluations::pass_on(const ArrivedResult& result) {
  const std::optional<Pending> now = find(result.job);
  const int earlier = now ? now->useless_results : 0;
  if (send_again(result, &Pending::useless_results, setup_.patience.pass_on * (1 << earlier)) <
      kMostUselessResults) {
    return;
  }
  if (!now || now->answers.empty()) {
    fail(result.job, "the worker '" + result.worker +
                         "', which is quarantined, takes the job again and again; remove its user "
                         "from the broker's passwords.conf");
  } else if (std::optional<Pending> pending = remove(result.job)) {
    settle_without_more(std::move(*pending));
  }
}

void RemoteEvaluations::take_answer(Pending pending, Answer answer) {
  if (answer.trusted) {
    trust_.prove_trusted(answer.worker);
  }
  answer.trusted = trust_.is_trusted(answer.worker);
  if (pending.canary) {
    take_canary(pending, answer);
    return;
  }
  answer.result.id = pending.request.id;
  pending.answers.push_back(std::move(answer));
  settle(std::move(pending));
}

void RemoteEvaluations::settle(Pending pending) {
  if (pending.answers.size() > 1) {
    const bool has_more = has_other(pending, setup_.roster.members());
    settle_by(rule(pending.answers, has_more), std::move(pending));
  } else if (!needs_second(pending)) {
    deliver(std::move(pending), 0);
  } else if (!has_other(pending, setup_.roster.members())) {
    settle_alone(std::move(pending));
  } else {
    ask_another(std::move(pending));
  }
}

/// No other worker answers.
void RemoteEvaluations::settle_without_more(Pending pending) {
  if (pending.answers.size() > 1) {
    settle_by(rule(pending.answers, false), std::move(pending));
  } else {
    settle_alone(std::move(pending));
  }
}

/// The word of one worker that is not trusted makes no leader.
void RemoteEvaluations::settle_alone(Pending pending) {
  Answer& answer = pending.answers.front();
  if (!answer.trusted && would_lead(pending, answer)) {
    answer.result.evaluations.front().unranked =
        "only the worker '" + answer.worker + "', which is not trusted, has judged the kernel";
  }
  deliver(std::move(pending), 0);
}

void RemoteEvaluations::settle_by(const Ruling& ruling, Pending pending) {
  const std::vector<Answer>& answers = pending.answers;
  if (ruling.kind == Ruling::Kind::AskThird) {
    setup_.warn(fmt::format("the workers {} disagree about one kernel ({}): a third worker decides",
                            names_of(answers), ruling.disagreement));
    ask_another(std::move(pending));
    return;
  }
  if (ruling.kind == Ruling::Kind::NoResult) {
    end_without_result(std::move(pending),
                       fmt::format("the workers {} disagree about the kernel ({}), and no other "
                                   "worker decides",
                                   names_of(answers), ruling.disagreement));
    return;
  }
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (ruling.is_timing_doubtful) {
      trust_.doubt_timing(answers[i].worker);
    } else if (ruling.odd == i && answers[i].worker == answers[ruling.counts].worker) {
      continue; // it has proved to be trusted meanwhile, and takes its own first answer back
    } else if (ruling.odd == i) {
      blame(answers[i].worker, ruling.may_be_unstable ? WorkerTrust::kOddAnswer : WorkerTrust::kLie,
            "two workers contradict it: " + ruling.disagreement);
    } else if (answers.front().worker != answers.back().worker) {
      trust_.was_right(answers[i].worker);
    }
  }
  deliver(std::move(pending), ruling.counts);
}

bool RemoteEvaluations::needs_second(const Pending& pending) const {
  const Depth depth = pending.request.depth;
  const Answer& answer = pending.answers.front();
  if (depth == Depth::HeldOut || depth == Depth::Trial ||
      answer.result.evaluations.front().verdict == Verdict::Infrastructure) {
    return false;
  }
  return is_drawn(pending.request.id) || (!answer.trusted && would_lead(pending, answer));
}

/// Only the coordinator can know, because only the coordinator knows the secret.
bool RemoteEvaluations::is_drawn(const std::string& request_id) const {
  const std::string digits =
      sha256_hex(setup_.session.secret + " audit " + request_id).substr(0, kDrawDigits);
  return static_cast<double>(std::strtoull(digits.c_str(), nullptr, 16)) < kDrawnShare * kDrawRange;
}

bool RemoteEvaluations::would_lead(const Pending& pending, const Answer& answer) const {
  const Evaluation& evaluation = answer.result.evaluations.front();
  if (pending.request.depth != Depth::Full || evaluation.verdict != Verdict::Correct) {
    return false;
  }
  const std::lock_guard lock(mutex_);
  const auto best = best_.find(pending.request.task->digest);
  return best == best_.end() || evaluation.speedup > best->second.speedup ||
         (evaluation.race && evaluation.race->verdict == "faster");
}

/// Whether the worker's answer would help.
bool RemoteEvaluations::may_help(const Pending& pending, const WorkerRoster::Member& worker) const {
  const bool may_prove =
      worker.trusted && !trust_.is_trusted(worker.name) && !pending.by_any_worker;
  return !trust_.is_quarantined(worker.name) &&
         (!has_answered(pending.answers, worker.name) || may_prove);
}

bool RemoteEvaluations::has_other(const Pending& pending,
                                  const std::vector<WorkerRoster::Member>& live) const {
  return std::any_of(live.begin(), live.end(),
                     [&](const auto& worker) { return may_help(pending, worker); });
}

/// Whether a trusted worker shall give the next answer. They come first, but their queue stays
/// short, because they hold finals, too.
bool RemoteEvaluations::asks_trusted(const Pending& pending) const {
  std::vector<WorkerRoster::Member> workers = setup_.roster.members();
  std::erase_if(workers, [&](const auto& worker) { return !may_help(pending, worker); });
  const auto trusted = std::count_if(workers.begin(), workers.end(),
                                     [](const auto& worker) { return worker.trusted; });
  const bool has_any = std::any_of(workers.begin(), workers.end(), [&](const auto& worker) {
    return !has_answered(pending.answers, worker.name);
  });
  const std::lock_guard lock(mutex_);
  const auto waiting = std::count_if(pending_.begin(), pending_.end(), [](const auto& entry) {
    return !entry.second.answers.empty() && entry.second.address.trusted;
  });
  return !pending.by_any_worker && trusted > 0 &&
         (!has_any || waiting < kMostAtTrustedWorker * trusted);
}

void RemoteEvaluations::ask_another(Pending pending) {
  pending.address.trusted =
      pending.request.depth == Depth::HeldOut || asks_trusted(pending); // else shapes would leak
  pending.address.job = setup_.session.job_of(
      fmt::format("{} answer {}{}", pending.request.id, pending.answers.size() + 1,
                  pending.by_any_worker ? " of any worker" : ""));
  pending.publish_at = {};
  pending.is_out = false;
  pending.lonely_since.reset();
  pending.asked_at.reset();
  pending.publications = pending.refused_results = pending.useless_results = 0;
  insert(std::move(pending));
}

/// The answer counts, unless its worker has been quarantined meanwhile.
void RemoteEvaluations::deliver(Pending pending, std::size_t index) {
  if (pass_result_on(pending, pending.answers[index])) {
    plant_canary(pending.request);
  } else {
    settle_without_quarantined(std::move(pending));
  }
}

bool RemoteEvaluations::pass_result_on(const Pending& pending, const Answer& answer) {
  const bool leads = would_lead(pending, answer);
  const std::lock_guard order(telling_);
  if (trust_.is_quarantined(answer.worker)) {
    return false;
  }
  const Evaluation& evaluation = answer.result.evaluations.front();
  if (leads && evaluation.unranked.empty()) {
    const std::lock_guard lock(mutex_);
    Best& best = best_[pending.request.task->digest];
    best = evaluation.speedup > best.speedup ? Best{evaluation.speedup, answer.worker} : best;
  }
  trust_.count(answer.worker);
  setup_.done(answer.result);
  return true;
}

void RemoteEvaluations::settle_without_quarantined(Pending pending) {
  std::erase_if(pending.answers,
                [this](const Answer& answer) { return trust_.is_quarantined(answer.worker); });
  if (pending.answers.empty()) {
    pending.by_any_worker = pending.request.depth != Depth::HeldOut;
    ask_another(std::move(pending));
  } else {
    settle(std::move(pending));
  }
}

void RemoteEvaluations::watch_quarantines(evaluators::TakeQuarantine take) {
  const std::lock_guard order(telling_);
  tell_quarantine_ = std::move(take);
  for (const std::string& worker : trust_.quarantined()) {
    tell_quarantine_(worker);
  }
}

void RemoteEvaluations::end_without_result(Pending pending, const std::string& fault) {
  setup_.warn(fault);
  {
    const std::lock_guard lock(mutex_);
    faults_.emplace_back(std::move(pending), fault);
  }
  changed_.notify_all();
}

void RemoteEvaluations::blame(const std::string& worker, int marks, const std::string& why) {
  {
    const std::lock_guard order(telling_);
    if (!trust_.mark(worker, marks)) {
      return;
    }
    if (tell_quarantine_) {
      tell_quarantine_(worker);
    }
  }
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(best_, [&](const auto& best) { return best.second.worker == worker; });
  }
  try {
    setup_.transport.set_pool_rules(setup_.session.pool, encode(rules()));
  } catch (const Error&) { // after_reconnection() tells the rules again
  }
  setup_.warn(fmt::format("worker '{0}' is quarantined: {1}. No result of '{0}' counts any more, "
                          "and a run judges the kernels again that '{0}' has judged. Remove the "
                          "user '{0}' from the broker's passwords.conf",
                          worker, why));
}

void RemoteEvaluations::plant_canary(const EvaluationRequest& like) {
  const std::optional<CanaryKind> kind = trust_.owed_canary();
  if (!kind) {
    return;
  }
  std::optional<Canary> canary = canary_like(like, *kind, setup_.session.rules.device_kind);
  {
    const std::lock_guard lock(mutex_);
    if (!canary || std::exchange(canary_is_out_, true)) {
      return;
    }
  }
  Pending pending;
  pending.address = {setup_.session.pool, false, session_,
                     setup_.session.job_of(canary->request.id)};
  pending.request = canary->request;
  pending.canary = std::move(canary);
  insert(std::move(pending));
}

void RemoteEvaluations::take_canary(const Pending& pending, const Answer& answer) {
  const CanaryFault fault = fault_in(*pending.canary, answer.result.evaluations.front());
  if (fault.what.empty()) {
    trust_.passed_canary(answer.worker,
                         pending.canary->is_wrong ? CanaryKind::Wrong : CanaryKind::Timing);
  } else {
    blame(answer.worker, fault.lies ? WorkerTrust::kLie : WorkerTrust::kRefusedResult,
          "the worker " + fault.what);
  }
  {
    const std::lock_guard lock(mutex_);
    canary_is_out_ = false;
  }
  plant_canary(pending.request);
}

/// Requests that wait for an answer that may never come.
void RemoteEvaluations::tend_answers() {
  const std::vector<WorkerRoster::Member> live = setup_.roster.members();
  std::vector<std::string> lonely, unanswered;
  {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    for (auto& [job, pending] : pending_) {
      if (pending.answers.empty()) {
        continue;
      }
      if (!pending.asked_at) {
        pending.asked_at = now;
      }
      if (has_other(pending, live)) {
        pending.lonely_since.reset();
        if (pending.address.trusted && now - *pending.asked_at > setup_.patience.trusted_answer) {
          unanswered.push_back(job);
        }
        continue;
      }
      pending.lonely_since = pending.lonely_since.value_or(now);
      if (now - *pending.lonely_since > setup_.patience.other_worker) {
        lonely.push_back(job);
      }
    }
  }
  for (const std::string& job : unanswered) {
    if (std::optional<Pending> pending = remove(job)) {
      const JobAddress address = pending->address;
      pending->by_any_worker = true;
      settle(std::move(*pending));
      setup_.transport.withdraw(address);
    }
  }
  for (const std::string& job : lonely) {
    if (std::optional<Pending> pending = remove(job)) {
      const JobAddress address = pending->address;
      settle_without_more(std::move(*pending));
      setup_.transport.withdraw(address);
    }
  }
}

} // namespace winnow::remote
