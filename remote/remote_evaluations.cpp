#include "remote/remote_evaluations.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/random_bits.h"

#include <utility>

namespace winnow::remote {
namespace {

using evaluators::EvaluationRequest;
using evaluators::SittingAnswer;
using evaluators::SittingRequest;
using std::chrono::milliseconds;

constexpr milliseconds kDrainWait{50};
constexpr milliseconds kHoldTick{100};
constexpr std::size_t kSessionDigits = 32;

} // namespace

std::string RemoteSession::id() const {
  return sha256_hex("session " + secret).substr(0, kSessionDigits);
}

std::string RemoteSession::job_of(const std::string& request_id) const {
  return sha256_hex(secret + " " + request_id);
}

RemoteEvaluations::RemoteEvaluations(Setup setup)
    : setup_(std::move(setup)), session_(setup_.session.id()),
      quarantine_(setup_.session.rules.quarantined), heard_(Clock::now()),
      checks_([this](const ArrivedResult& result) { check(result); }) {
  setup_.transport.prepare(setup_.session.pool);
  reconnections_ = setup_.transport.reconnections();
  for (;;) {
    const std::vector<ArrivedResult> results = setup_.transport.results(kDrainWait);
    if (results.empty()) {
      break;
    }
    for (const ArrivedResult& result : results) {
      handle(result);
    }
  }
  sender_ = std::thread([this] { send_jobs(); });
  receiver_ = std::thread([this] { receive(); });
}

RemoteEvaluations::~RemoteEvaluations() {
  stop();
}

void RemoteEvaluations::submit(EvaluationRequest request) {
  Pending pending;
  const bool trusted = request.depth == evaluators::Depth::HeldOut;
  pending.address = {setup_.session.pool, trusted, session_, setup_.session.job_of(request.id)};
  pending.request = std::move(request);
  const std::string job = pending.address.job;
  {
    const std::lock_guard lock(mutex_);
    if (const auto early = early_.find(job); early != early_.end()) {
      pending.is_out = true;
      pending.publish_at = Clock::now() + setup_.patience.publish_again;
      early_bytes_ -= early->second.body.size();
      Unasked& unasked = unasked_[early->second.worker];
      unasked.results -= std::min<std::size_t>(unasked.results, 1);
      unasked.bytes -= std::min(unasked.bytes, early->second.body.size());
      arrived_.push_back(std::move(early->second));
      early_.erase(early);
    }
    finished_.erase(job); // it begins anew
    pending_[job] = std::move(pending);
    is_rescheduled_ = true;
  }
  changed_.notify_all();
}

void RemoteEvaluations::cancel(const std::string& id) {
  std::string job;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, pending] : pending_) {
      job = pending.request.id == id ? name : job;
    }
  }
  fail(job, "cancelled");
}

SittingAnswer RemoteEvaluations::hold(const SittingRequest& request, const std::stop_token& stop,
                                      const evaluators::HoldProgress& progress) {
  Pending pending;
  pending.kind = JobKind::Sitting;
  // The same final may be asked for again after a fault.
  pending.address = {setup_.session.pool, true, session_,
                     setup_.session.job_of(request.id + std::to_string(random_bits()))};
  pending.sitting = &request;
  pending.sitting_text = encode(request);
  pending.answer = std::make_shared<std::promise<SittingAnswer>>();
  std::future<SittingAnswer> answer = pending.answer->get_future();
  const std::string job = pending.address.job;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      return failed_sittings(request, "cancelled");
    }
    pending_[job] = std::move(pending);
    is_rescheduled_ = true;
  }
  changed_.notify_all();
  return wait_for_answer(request, job, std::move(answer), stop, progress);
}

SittingAnswer RemoteEvaluations::wait_for_answer(const SittingRequest& request,
                                                 const std::string& job,
                                                 std::future<SittingAnswer> answer,
                                                 const std::stop_token& stop,
                                                 const evaluators::HoldProgress& progress) {
  auto trusted_at = Clock::now();
  int told = -1;
  while (answer.wait_for(kHoldTick) != std::future_status::ready) {
    if (stop.stop_requested()) {
      fail(job, "cancelled");
    }
    const auto held = setup_.roster.held(job);
    if (held && held->made != told) {
      progress(held->made, held->all);
      told = held->made;
    }
    const auto now = Clock::now();
    trusted_at = setup_.roster.any_trusted() ? now : trusted_at;
    if (now - trusted_at > setup_.patience.trusted_worker) {
      fail(job, "no trusted worker of pool '" + setup_.session.pool +
                    "' is alive; start one with `winnow worker --trusted`");
    }
  }
  try {
    return answer.get();
  } catch (const std::future_error&) { // stop() has dropped it
    return failed_sittings(request, "cancelled");
  }
}

void RemoteEvaluations::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) {
      return;
    }
  }
  changed_.notify_all();
  checks_.stop();
  sender_.join();
  receiver_.join();
  const std::lock_guard lock(mutex_);
  std::vector<JobAddress> left;
  for (const auto& [job, pending] : std::exchange(pending_, {})) {
    left.push_back(pending.address);
  }
  for (const auto& [pending, fault] : std::exchange(faults_, {})) {
    left.push_back(pending.address);
  }
  for (const auto& [job, address] : std::exchange(finished_, {})) {
    left.push_back(address);
  }
  try {
    setup_.transport.cancel("");
    setup_.transport.withdraw_all(left);
    setup_.transport.end_session();
  } catch (const Error& error) {
    setup_.warn("the broker keeps the jobs of this session for up to a week: " +
                with_remedy(error));
  }
}

/// Waits, and returns whether there is something to do before `time` is over.
bool RemoteEvaluations::pause(milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return stopping_; });
}

/// The job ends without a result. The sending thread tells whoever waits.
void RemoteEvaluations::fail(const std::string& job, const std::string& fault) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(job);
    if (found == pending_.end()) {
      return;
    }
    if (found->second.answer) { // now, because its request may not live longer
      found->second.answer->set_value(failed_sittings(*found->second.sitting, fault));
      found->second.answer.reset();
    }
    faults_.emplace_back(std::move(found->second), fault);
    pending_.erase(found);
  }
  changed_.notify_all();
}

void RemoteEvaluations::take_faults() {
  std::vector<std::pair<Pending, std::string>> faults;
  {
    const std::lock_guard lock(mutex_);
    faults.swap(faults_);
  }
  for (const auto& [pending, fault] : faults) {
    if (pending.kind == JobKind::Evaluation) {
      setup_.done({pending.request.id, {}, {}, fault});
    }
  }
  for (const auto& [pending, fault] : faults) {
    setup_.transport.withdraw(pending.address);
    setup_.transport.cancel(pending.address.job);
  }
}

std::optional<RemoteEvaluations::Pending> RemoteEvaluations::find(const std::string& job) const {
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(job);
  return found == pending_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<RemoteEvaluations::Pending> RemoteEvaluations::remove(const std::string& job) {
  const std::lock_guard lock(mutex_);
  auto node = pending_.extract(job);
  if (!node.empty()) {
    answered_.insert(job);
  }
  return node.empty() ? std::nullopt : std::optional(std::move(node.mapped()));
}

} // namespace winnow::remote
