#include "harness/client/server_evaluations.h"

#include "base/error.h"

#include <chrono>
#include <exception>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using evaluators::Depth;
using evaluators::EvaluationRequest;
using evaluators::EvaluationResult;
using nlohmann::json;

constexpr std::chrono::milliseconds kBurst{2}; // requests that come together are sent together
constexpr std::chrono::seconds kLongPoll{20}, kAccepting{20};
constexpr std::chrono::seconds kMayBeAway{60};
constexpr std::chrono::milliseconds kBetweenTries{500};
constexpr const char* kFresh = "fresh"; // a member of requests

/// What all items of one request to the server share.
json options_of(const EvaluationRequest& request) {
  const evaluators::Protocol& protocol = request.protocol;
  const bool is_timed = request.depth == Depth::Full && protocol.timing;
  json options = {{"depth", request.depth == Depth::Compile ? "compile"
                            : is_timed                      ? "full"
                                                            : "correct"},
                  {kFresh, !protocol.reuse}};
  if (is_timed && protocol.time_budget.count() > 0) {
    options["time_budget_ms"] = protocol.time_budget.count();
  }
  if (is_timed && protocol.counters != evaluators::Counting::Off) {
    options["counters"] = to_string(protocol.counters);
    options["energy"] = protocol.energy;
  }
  return options;
}

/// A server that does not answer may be on its way back: asks again.
json patiently(const std::stop_token& stop, const std::function<json()>& ask) {
  for (const auto until = std::chrono::steady_clock::now() + kMayBeAway;;) {
    try {
      return ask();
    } catch (const UsageError&) {
      throw;
    } catch (const Error&) {
      if (stop.stop_requested() || std::chrono::steady_clock::now() > until) {
        throw;
      }
      std::this_thread::sleep_for(kBetweenTries);
    }
  }
}

bool can_be_sent(const EvaluationRequest& request) {
  return (request.depth == Depth::Full || request.depth == Depth::Compile) &&
         request.choices.size() < 2;
}

} // namespace

void ServerRemarks::put(const JudgeRecord& record) {
  const std::lock_guard lock(mutex_);
  for (const tasks::Evaluation& evaluation : record.result.evaluations) {
    by_seed_[evaluation.seed] = record.light;
  }
  account_ = record.account;
}

LightShares ServerRemarks::light_of(const tasks::Evaluation& evaluation) const {
  const std::lock_guard lock(mutex_);
  const auto known = by_seed_.find(evaluation.seed);
  return known == by_seed_.end() ? LightShares{} : known->second;
}

std::string ServerRemarks::account() const {
  const std::lock_guard lock(mutex_);
  return account_ ? fmt::format("{} of {} evaluations used\n", account_->evaluations,
                                account_->most.value_or(0))
                  : "";
}

ServerEvaluations::ServerEvaluations(const ServerOptions& server, std::string task,
                                     std::shared_ptr<ServerRemarks> remarks,
                                     evaluators::TakeResult done)
    : server_(server), task_(std::move(task)), remarks_(std::move(remarks)), done_(std::move(done)),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

ServerEvaluations::~ServerEvaluations() {
  ServerEvaluations::stop();
}

void ServerEvaluations::submit(EvaluationRequest request) {
  const std::lock_guard lock(mutex_);
  submitted_.push_back(std::move(request));
  changed_.notify_all();
}

void ServerEvaluations::cancel(const std::string& id) {
  const std::lock_guard lock(mutex_);
  cancelled_.insert(id);
}

evaluators::SittingAnswer ServerEvaluations::hold(const evaluators::SittingRequest& request,
                                                  const std::stop_token& /*stop*/,
                                                  const evaluators::HoldProgress& /*progress*/) {
  return evaluators::failed_sittings(request, "a server holds no finals for its clients");
}

void ServerEvaluations::stop() {
  thread_.request_stop();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void ServerEvaluations::fail(const EvaluationRequest& request, const std::string& fault) const {
  done_({request.id, "", {}, fault});
}

std::vector<EvaluationRequest> ServerEvaluations::take_submitted(const std::stop_token& stop) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [this] { return !submitted_.empty(); });
  }
  std::this_thread::sleep_for(kBurst);
  const std::lock_guard lock(mutex_);
  return {std::make_move_iterator(submitted_.begin()),
          std::make_move_iterator(std::exchange(submitted_, {}).end())};
}

void ServerEvaluations::work(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    judge(take_submitted(stop), stop);
  }
}

/// Those with equal options go together.
void ServerEvaluations::judge(std::vector<EvaluationRequest> requests,
                              const std::stop_token& stop) {
  std::map<std::string, Batch> batches;
  for (EvaluationRequest& request : requests) {
    if (!can_be_sent(request)) {
      fail(request, "a server judges one choice of parameters at a time, in full");
      continue;
    }
    const std::string rival = request.incumbent ? digest_of(*request.incumbent) : "";
    batches[options_of(request).dump() + rival].requests.push_back(std::move(request));
  }
  for (auto& [key, batch] : batches) {
    try {
      send(batch, stop);
      while (!batch.open.empty()) {
        cancel_jobs(batch, false);
        take_results(batch, next_page(batch, stop));
      }
    } catch (const std::exception& error) {
      if (stop.stop_requested()) {
        cancel_jobs(batch, true);
        return;
      }
      const auto* const usage = dynamic_cast<const UsageError*>(&error);
      const std::string remedy = usage != nullptr ? usage->remedy() : "";
      for (const auto& [at, job] : batch.open) {
        fail(batch.requests[at], error.what() + (remedy.empty() ? "" : "; " + remedy));
      }
    }
  }
}

void ServerEvaluations::send(Batch& batch, const std::stop_token& stop) {
  json body = options_of(batch.requests.front());
  for (std::size_t at = 0; at < batch.requests.size(); ++at) {
    batch.open[at] = "";
  }
  if (const auto& incumbent = batch.requests.front().incumbent) {
    const auto known = candidates_.find(digest_of(*incumbent));
    if (known == candidates_.end()) {
      throw Error("the server has not judged the kernel to race against");
    }
    body["race_against"] = fmt::format("@{}", known->second);
  }
  for (std::size_t at = 0; at < batch.requests.size(); ++at) {
    const EvaluationRequest& request = batch.requests[at];
    json item = {{"id", std::to_string(at)}, {"task", task_}, {"kernel", request.text}};
    if (!request.choices.empty()) {
      item["parameters"] = request.choices.front();
    }
    body["items"].push_back(std::move(item));
  }
  const auto post = [&] { return server_.post("/v1/judge", body, kAccepting, stop); };
  // Twice the same request is judged once, unless it wants new times.
  const json page = body.at(kFresh).get<bool>() ? post() : patiently(stop, post);
  batch.name = page.at("batch").get<std::string>();
  for (const json& job : page.at("jobs")) {
    const std::size_t at = std::stoul(job.at("id").get<std::string>());
    if (job.contains("error")) {
      fail(batch.requests.at(at), job.at("error").get<std::string>());
      batch.open.erase(at);
    } else {
      batch.open[at] = job.at("job").get<std::string>();
    }
  }
  take_results(batch, page);
}

json ServerEvaluations::next_page(const Batch& batch, const std::stop_token& stop) {
  return patiently(stop, [&] {
    return server_.get(
        fmt::format("/v1/batches/{}?wait_s={}&after={}", batch.name, kLongPoll.count(), batch.next),
        kLongPoll, stop);
  });
}

void ServerEvaluations::take_results(Batch& batch, const json& page) {
  for (const json& result : page.at("results")) {
    const std::size_t at = std::stoul(result.at("id").get<std::string>());
    if (batch.open.contains(at)) {
      finish(batch, at, result);
      batch.open.erase(at);
    }
  }
  batch.next = page.at("next").get<std::int64_t>();
}

void ServerEvaluations::finish(Batch& batch, std::size_t at, const json& result) {
  const EvaluationRequest& request = batch.requests[at];
  if (!result.contains("verdict")) {
    const std::string fault = result.value("fault", "no answer");
    const std::string detail = result.value("detail", "");
    fail(request, fault == "infrastructure" && !detail.empty() ? detail : fault);
    return;
  }
  JudgeRecord record = read_record(server_.text("/v1/jobs/" + batch.open.at(at) + "/record"));
  record.result.id = request.id;
  remarks_->put(record);
  if (!record.result.evaluations.empty()) {
    const tasks::Evaluation& evaluation = record.result.evaluations.front();
    candidates_[evaluators::digest_of({request.text, evaluation.parameters})] =
        result.at("candidate").get<std::int64_t>();
  }
  done_(std::move(record.result));
}

/// Those of cancelled requests, or all.
void ServerEvaluations::cancel_jobs(const Batch& batch, bool all) {
  std::set<std::string> cancelled;
  {
    const std::lock_guard lock(mutex_);
    cancelled = std::exchange(cancelled_, {});
  }
  for (const auto& [at, job] : batch.open) {
    if (!job.empty() && (all || cancelled.contains(batch.requests[at].id))) {
      try {
        server_.remove("/v1/jobs/" + job);
      } catch (const Error&) { // it has gone; then nothing is judged either
        return;
      }
    }
  }
}

} // namespace winnow::harness
