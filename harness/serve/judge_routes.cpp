#include "harness/serve/judge_routes.h"

#include "base/error.h"
#include "base/json_dump.h"
#include "harness/serve/server_application.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr std::int64_t kPageOfResults = 256;
/// Then requests of others have their turn. Who waits is answered at the next tick.
constexpr std::chrono::milliseconds kMostOfATick{200};
constexpr const char* kUnknownPage = "there is no such page";
constexpr const char* kAllPages = "docs/serve.md lists all";

HttpReply json_reply(int status, const json& body, int retry_after_s = 0) {
  HttpReply reply{status, json_line(body) + "\n"};
  reply.retry_after_s = retry_after_s;
  return reply;
}

json accepted_json(const AcceptedBatch& batch,
                   const std::map<std::string, std::size_t>& positions) {
  json jobs = json::array();
  for (const AcceptedItem& item : batch.items) {
    json job = {{"id", item.id}, {"state", item.state}};
    job[item.error.empty() ? "job" : "error"] = item.error.empty() ? item.job : item.error;
    if (const auto position = positions.find(item.job); position != positions.end()) {
      job["position"] = position->second;
    }
    jobs.push_back(std::move(job));
  }
  return {{"batch", batch.batch}, {"jobs", std::move(jobs)}};
}

json metadata_json(const std::string& metadata) {
  return metadata.empty() ? json() : json::parse(metadata);
}

HttpReply no_such(const std::string& what) {
  return error_reply(404, "your token has no such " + what);
}

/// The answers to a batch after a place, and whether there will be more.
json batch_page(const JudgeService& service, const std::string& batch,
                const store::JudgeBatchState& state, std::int64_t after) {
  json results = service.results(batch, after, kPageOfResults);
  const std::int64_t next =
      results.empty() ? after : results.back().at("place").get<std::int64_t>();
  return {{"batch", batch},
          {"items", state.items},
          {"answered", state.answered},
          {"done", state.answered == state.items && next >= state.last},
          {"next", next},
          {"metadata", metadata_json(state.metadata)},
          {"results", std::move(results)}};
}

} // namespace

JudgeRoutes::JudgeRoutes(JudgeService& service, Setup setup)
    : service_(service), setup_(std::move(setup)) {
  service_.on_answer = [this](const std::string& batch) { on_answer(batch); };
}

void JudgeRoutes::answer(const std::shared_ptr<Exchange>& exchange, const Target& target,
                         const Client& client) {
  const Call call{exchange, target, client.owner, client};
  try {
    const std::string& method = exchange->request().method;
    if (method == "GET") {
      get(call);
    } else if (method == "POST" && target.is({"v1", "judge"})) {
      judge(call);
    } else if (method == "POST") {
      exchange->reply(error_reply(404, kUnknownPage, kAllPages));
    } else if (target.is({"v1", "jobs"}, 1)) {
      cancel_job(call, target.path[2]);
    } else {
      exchange->reply(error_reply(405, "only jobs can be deleted"));
    }
  } catch (const QueueFull& full) {
    exchange->reply(json_reply(429, {{"error", full.what()}}, full.retry_after_s));
  }
}

void JudgeRoutes::get(const Call& call) {
  const Target& target = call.target;
  if (target.is({"v1", "batches"}, 1)) {
    show_batch(call, target.path[2]);
  } else if (target.is({"v1", "batches"}, 2) && target.path[3] == "stream") {
    stream(call, target.path[2]);
  } else if (target.is({"v1", "jobs"}, 1)) {
    show_job(call, target.path[2]);
  } else if (target.is({"v1", "tasks"})) {
    call.exchange->reply(json_reply(200, setup_.task_list()));
  } else if (target.is({"v1", "tasks"}, 1) || target.is({"v1", "tasks"}, 2)) {
    const std::string name = target.path[2];
    call.exchange->reply(
        json_reply(200, setup_.task(target.path.size() == 3 ? name : name + "/" + target.path[3])));
  } else if (target.is({"v1", "health"})) {
    call.exchange->reply(health());
  } else if (target.is({"metrics"})) {
    call.exchange->reply(metrics());
  } else {
    call.exchange->reply(error_reply(404, kUnknownPage, kAllPages));
  }
}

void JudgeRoutes::judge(const Call& call) {
  call.target.allow_only({"stream"});
  const JudgeRequest request = parse_judge_request(call.exchange->take_body());
  const AcceptedBatch batch = service_.accept(call.owner, request, call.client.reads_all);
  const bool all_refused = std::all_of(batch.items.begin(), batch.items.end(),
                                       [](const auto& item) { return item.state == "refused"; });
  json accepted = accepted_json(batch, service_.positions(call.owner));
  if (all_refused) {
    accepted["error"] = batch.items.front().error;
    call.exchange->reply(json_reply(422, accepted));
    return;
  }
  if (!call.target.value("stream").empty()) {
    accepted["metadata"] = metadata_json(request.metadata);
    call.exchange->begin_lines();
    call.exchange->add_line(json_line(accepted));
    stream(call, batch.batch);
    return;
  }
  std::string jobs = json_line(accepted.at("jobs")); // as JSON in memory it is much larger
  const std::size_t bytes = jobs.size();
  auto advance = [this, name = batch.batch, jobs = std::move(jobs),
                  owner = call.owner](Waiter& self, bool late) {
    const auto state = service_.requests().batch(name, owner).value();
    const bool is_done = state.answered == state.items;
    if (is_done || late) {
      json page = batch_page(service_, name, state, 0);
      page["jobs"] = json::parse(jobs);
      self.exchange->reply(json_reply(is_done ? 200 : 202, page));
    }
    return is_done || late;
  };
  wait(batch.batch, {call.exchange, Clock::now() + request.wait, std::move(advance),
                     std::chrono::milliseconds{0}, call.owner, bytes});
}

/// As the client wishes to wait.
JudgeRoutes::Clock::time_point JudgeRoutes::deadline_of(const Call& call) {
  return Clock::now() + std::chrono::seconds(call.target.number("wait_s", kMostWait.count()));
}

void JudgeRoutes::show_batch(const Call& call, const std::string& batch) {
  call.target.allow_only({"wait_s", "after"});
  if (!service_.requests().batch(batch, call.sees)) {
    call.exchange->reply(no_such("batch"));
    return;
  }
  const std::int64_t after = call.target.number("after", INT64_MAX);
  const auto advance = [this, batch, after, owner = call.sees](Waiter& self, bool late) {
    const auto state = service_.requests().batch(batch, owner).value();
    const bool has_news = state.last > after || state.answered == state.items;
    if (has_news || late) {
      self.exchange->reply(json_reply(200, batch_page(service_, batch, state, after)));
    }
    return has_news || late;
  };
  wait(batch, {call.exchange, deadline_of(call), advance});
}

void JudgeRoutes::stream(const Call& call, const std::string& batch) {
  if (!service_.requests().batch(batch, call.sees)) {
    call.exchange->reply(no_such("batch"));
    return;
  }
  const std::int64_t begin = call.target.number("after", INT64_MAX);
  if (call.exchange->request().method == "GET") {
    call.target.allow_only({"after"});
    call.exchange->begin_lines();
  }
  const auto advance = [this, batch, owner = call.sees, after = begin](Waiter& self,
                                                                       bool late) mutable {
    const std::vector<json> results = service_.results(batch, after, kPageOfResults);
    for (const json& result : results) {
      after = result.at("place").get<std::int64_t>();
      self.exchange->add_line(json_line(result));
      late = false;
    }
    if (results.size() == static_cast<std::size_t>(kPageOfResults)) {
      self.deadline = Clock::now(); // the next tick goes on, and others have a turn before
    }
    const auto state = service_.requests().batch(batch, owner).value();
    if (state.answered == state.items && after >= state.last) {
      self.exchange->add_line(R"({"done":true})");
      self.exchange->end_lines();
      return true;
    }
    if (late) {
      self.exchange->add_line("");
    }
    return false;
  };
  wait(batch, {call.exchange, Clock::now() + setup_.heartbeat, advance, setup_.heartbeat});
}

void JudgeRoutes::show_job(const Call& call, const std::string& job) {
  call.target.allow_only({"wait_s"});
  const auto item = service_.requests().item_of_job(job, call.sees);
  if (!item) {
    call.exchange->reply(no_such("job"));
    return;
  }
  const auto advance = [this, job, owner = call.sees](Waiter& self, bool late) {
    const auto now = service_.requests().item_of_job(job, owner).value();
    if (now.place > 0) {
      self.exchange->reply(json_reply(200, service_.result(now)));
    } else if (late) {
      const std::string state = service_.state_of(job);
      self.exchange->reply(json_reply(
          200, {{"id", now.item}, {"job", job}, {"state", state.empty() ? "queued" : state}}));
    }
    return now.place > 0 || late;
  };
  wait(item->batch, {call.exchange, deadline_of(call), advance});
}

void JudgeRoutes::cancel_job(const Call& call, const std::string& job) {
  if (!service_.requests().item_of_job(job, call.owner)) {
    call.exchange->reply(no_such("job"));
  } else if (service_.cancel(call.owner, job)) {
    call.exchange->reply(json_reply(200, {{"job", job}, {"state", "cancelled"}}));
  } else {
    call.exchange->reply(error_reply(409, "the job has its answer already"));
  }
}

HttpReply JudgeRoutes::health() const {
  const ServiceState state = service_.state();
  return json_reply(200, {{"status", state.last_fault.empty() ? "ok" : "failing"},
                          {"version", setup_.version},
                          {"queued", state.queued},
                          {"running", state.running},
                          {"answered", state.answered},
                          {"faults", state.faults},
                          {"per_minute", state.per_second * 60}});
}

HttpReply JudgeRoutes::metrics() const {
  const ServiceState state = service_.state();
  std::string text;
  const auto add = [&](const char* name, const char* type, auto value) {
    text += fmt::format("# TYPE winnow_{0} {1}\nwinnow_{0} {2}\n", name, type, value);
  };
  add("jobs_queued", "gauge", state.queued);
  add("jobs_running", "gauge", state.running);
  add("jobs_answered_total", "counter", state.answered);
  add("jobs_faulted_total", "counter", state.faults);
  add("jobs_per_second", "gauge", state.per_second);
  add("requests_waiting", "gauge", waiters_.size());
  HttpReply reply{200, text};
  reply.type = "text/plain; version=0.0.4";
  return reply;
}

/// A store that fails ends the request, not the server.
bool JudgeRoutes::advance(Waiter& waiter, bool late) {
  try {
    return waiter.advance(waiter, late);
  } catch (const std::exception& error) {
    HttpReply reply = unsaid_error(503, error);
    if (waiter.again.count() > 0) {
      waiter.exchange->end_lines();
    }
    waiter.exchange->reply(std::move(reply));
    return true;
  }
}

bool JudgeRoutes::has_room(const Waiter& waiter) const {
  std::size_t bytes = waiter.bytes;
  for (const auto& [batch, other] : waiters_) {
    bytes += other.owner == waiter.owner ? other.bytes : 0;
  }
  return bytes <= setup_.waiting_bytes;
}

void JudgeRoutes::wait(const std::string& batch, Waiter waiter) {
  const bool is_late = waiter.deadline <= Clock::now() || !has_room(waiter);
  if (!advance(waiter, is_late)) {
    waiters_.emplace(batch, std::move(waiter));
  }
}

void JudgeRoutes::on_answer(const std::string& batch) {
  auto [at, end] = waiters_.equal_range(batch);
  while (at != end) {
    at = advance(at->second, false) ? waiters_.erase(at) : std::next(at);
  }
}

void JudgeRoutes::tick() {
  const Clock::time_point now = Clock::now();
  std::erase_if(waiters_, [](const auto& one) { return !one.second.exchange->is_open(); });
  std::vector<Waiters::iterator> late;
  for (auto at = waiters_.begin(); at != waiters_.end(); ++at) {
    if (at->second.deadline <= now) {
      late.push_back(at);
    }
  }
  std::sort(late.begin(), late.end(),
            [](const auto& a, const auto& b) { return a->second.deadline < b->second.deadline; });
  for (const Waiters::iterator at : late) { // those who waited longest first
    if (Clock::now() - now > kMostOfATick) {
      return;
    }
    if (at->second.again.count() > 0) {
      at->second.deadline = now + at->second.again;
    }
    if (advance(at->second, true)) {
      waiters_.erase(at);
    }
  }
}

void JudgeRoutes::end() {
  for (auto& [batch, waiter] : std::exchange(waiters_, {})) {
    if (waiter.again.count() > 0) {
      waiter.exchange->end_lines(); // without {"done":true}: the client comes again
    } else {
      advance(waiter, true);
    }
  }
}

} // namespace winnow::harness
