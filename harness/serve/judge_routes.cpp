#include "harness/serve/judge_routes.h"

#include "base/error.h"
#include "base/json_dump.h"
#include "harness/serve/server_application.h"

#include <algorithm>
#include <exception>
#include <future>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr std::int64_t kPageOfResults = 256;
constexpr std::size_t kLargeBody = std::size_t{256} << 10U; // is parsed in some 5 ms
constexpr std::chrono::milliseconds kParsedWithin{2};       // then others have their turns
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
HttpReply batch_page(ResultLines& lines, const std::string& batch,
                     const store::JudgeBatchState& state, std::int64_t after, int status = 200,
                     const std::string& jobs = {}) {
  const std::vector<ResultLines::Line> results = lines.of(batch, after, kPageOfResults);
  const std::int64_t next = results.empty() ? after : results.back().place;
  json page = {{"batch", batch},
               {"items", state.items},
               {"answered", state.answered},
               {"done", state.answered == state.items && next >= state.last},
               {"next", next},
               {"metadata", metadata_json(state.metadata)}};
  if (!jobs.empty()) {
    page["jobs"] = json::parse(jobs);
  }
  std::string text = json_line(page);
  text.back() = ','; // the results are lines already
  text += "\"results\":[";
  for (const ResultLines::Line& line : results) {
    text += (&line == results.data() ? "" : ",") + *line.text;
  }
  return {status, text + "]}\n"};
}

} // namespace

JudgeRoutes::JudgeRoutes(JudgeService& service, Setup setup)
    : service_(service), setup_(std::move(setup)), lines_(service) {
  service_.on_answer = [this](const std::string& batch) { on_answer(batch); };
}

void JudgeRoutes::answer(const std::shared_ptr<Exchange>& exchange, const Target& target,
                         const Client& client) {
  const Call call{exchange, target, client.owner, client};
  const std::string& method = exchange->request().method;
  if (method == "GET") {
    get(call);
  } else if (method == "POST" && target.is({"v1", "judge"})) {
    judge(call);
  } else if (method == "POST" && target.is({"v1", "runs"})) {
    declare_run(call);
  } else if (method == "POST" && target.is({"v1", "runs"}, 2) && target.path[3] == "end") {
    answer_run(call, service_.runs().end(client, target.path[2]));
  } else if (method == "POST") {
    exchange->reply(error_reply(404, kUnknownPage, kAllPages));
  } else if (target.is({"v1", "jobs"}, 1)) {
    cancel_job(call, target.path[2]);
  } else {
    exchange->reply(error_reply(405, "only jobs can be deleted"));
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
  } else if (target.is({"v1", "jobs"}, 2) && target.path[3] == "record") {
    show_record(call, target.path[2]);
  } else if (target.is({"v1", "tasks"})) {
    call.exchange->reply(json_reply(200, setup_.task_list()));
  } else if (target.is({"v1", "tasks"}, 1) || target.is({"v1", "tasks"}, 2)) {
    const std::string name = target.path[2];
    call.exchange->reply(
        json_reply(200, setup_.task(target.path.size() == 3 ? name : name + "/" + target.path[3])));
  } else if (target.is({"v1", "runs"}, 1)) {
    answer_run(call, service_.runs().show(call.client, target.path[2]));
  } else if (target.is({"v1", "account"})) {
    const Account account = service_.account(call.owner);
    call.exchange->reply(json_reply(200, {{"evaluations", account.evaluations},
                                          {"most", account.most ? json(*account.most) : json()},
                                          {"hidden_answers", account.hidden_answers}}));
  } else if (target.is({"v1", "health"})) {
    call.exchange->reply(health());
  } else if (target.is({"metrics"})) {
    call.exchange->reply(metrics());
  } else if (const auto report = setup_.report(target, call.sees)) {
    call.exchange->reply(json_reply(200, *report));
  } else {
    call.exchange->reply(error_reply(404, kUnknownPage, kAllPages));
  }
}

void JudgeRoutes::declare_run(const Call& call) {
  call.target.allow_only({});
  const std::string body = call.exchange->take_body();
  if (body.size() > kLargeBody) {
    throw UsageError(fmt::format("the declaration has more than {} bytes", kLargeBody));
  }
  const RunDeclaration run = parse_run_declaration(body);
  call.exchange->reply(json_reply(200, service_.declare_run(call.client, run)));
}

void JudgeRoutes::answer_run(const Call& call, const std::optional<json>& run) {
  call.target.allow_only({});
  call.exchange->reply(run ? json_reply(200, *run) : no_such("run"));
}

struct JudgeRoutes::Intake {
  std::shared_ptr<Exchange> exchange;
  Target target;
  Client client;
  std::future<JudgeRequest> parsed = {};
  std::string metadata = {};
  std::chrono::seconds wait{0};
  std::shared_ptr<JudgeService::Acceptance> acceptance = nullptr;
};

void JudgeRoutes::judge(const Call& call) {
  call.target.allow_only({"stream"});
  const auto intake = std::make_shared<Intake>(Intake{call.exchange, call.target, call.client});
  std::string body = call.exchange->take_body();
  const bool is_large = body.size() > kLargeBody;
  intake->parsed = std::async(is_large ? std::launch::async : std::launch::deferred,
                              [body = std::move(body)] { return parse_judge_request(body); });
  parse(intake);
}

/// A turn of waiting for the thread that parses a large body.
void JudgeRoutes::parse(const std::shared_ptr<Intake>& intake) {
  if (intake->parsed.wait_for(kParsedWithin) == std::future_status::timeout) {
    const auto next = [this, intake] { answering(*intake->exchange, [&] { parse(intake); }); };
    setup_.in_turn(intake->client.owner, next, Turn::Next);
    return;
  }
  JudgeRequest request = intake->parsed.get();
  intake->metadata = request.metadata;
  intake->wait = request.wait;
  intake->acceptance =
      service_.begin(intake->client.owner, std::move(request), intake->client.reads_all);
  take_in(intake);
}

/// A turn of it. The next one goes before other requests of this owner, so that no more than one
/// request of an owner is half taken in.
void JudgeRoutes::take_in(const std::shared_ptr<Intake>& intake) {
  try {
    const auto batch = service_.go_on(*intake->acceptance, Clock::now() + setup_.turn);
    if (batch) {
      answer_accepted(*intake, *batch);
      return;
    }
  } catch (const QueueFull& full) {
    intake->exchange->reply(json_reply(429, {{"error", full.what()}}, full.retry_after_s));
    return;
  }
  const auto next = [this, intake] { answering(*intake->exchange, [&] { take_in(intake); }); };
  setup_.in_turn(intake->client.owner, next, Turn::Next);
}

void JudgeRoutes::answer_accepted(const Intake& intake, const AcceptedBatch& batch) {
  const Call call{intake.exchange, intake.target, intake.client.owner, intake.client};
  const bool all_refused = std::all_of(batch.items.begin(), batch.items.end(),
                                       [](const auto& item) { return item.state == "refused"; });
  json accepted = accepted_json(batch, service_.positions(call.owner));
  if (all_refused) {
    accepted["error"] = batch.items.front().error;
    call.exchange->reply(json_reply(422, accepted));
  } else if (!call.target.value("stream").empty()) {
    accepted["metadata"] = metadata_json(intake.metadata);
    call.exchange->begin_lines();
    call.exchange->add_line(json_line(accepted));
    stream(call, batch.batch);
  } else { // as JSON in memory it is much larger
    wait_for_all(intake, batch.batch, json_line(accepted.at("jobs")));
  }
}

void JudgeRoutes::wait_for_all(const Intake& intake, const std::string& batch, std::string jobs) {
  const std::string& owner = intake.client.owner;
  const std::size_t bytes = jobs.size();
  auto advance = [this, batch, jobs = std::move(jobs), owner](Waiter& self, bool late) {
    const auto state = service_.requests().batch(batch, owner).value();
    const bool is_done = state.answered == state.items;
    if (is_done || late) {
      self.exchange->reply(batch_page(lines_, batch, state, 0, is_done ? 200 : 202, jobs));
    }
    return is_done || late;
  };
  wait(owner, batch,
       {intake.exchange, Clock::now() + intake.wait, std::move(advance),
        std::chrono::milliseconds{0}, bytes});
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
      self.exchange->reply(batch_page(lines_, batch, state, after));
    }
    return has_news || late;
  };
  wait(call.owner, batch, {call.exchange, deadline_of(call), advance});
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
    const std::vector<ResultLines::Line> results = lines_.of(batch, after, kPageOfResults);
    for (const ResultLines::Line& result : results) {
      after = result.place;
      self.exchange->add_line(*result.text);
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
  wait(call.owner, batch,
       {call.exchange, Clock::now() + setup_.heartbeat, advance, setup_.heartbeat});
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
      self.exchange->reply({200, *lines_.of(now) + "\n"});
    } else if (late) {
      const std::string state = service_.state_of(job);
      self.exchange->reply(json_reply(
          200, {{"id", now.item}, {"job", job}, {"state", state.empty() ? "queued" : state}}));
    }
    return now.place > 0 || late;
  };
  wait(call.owner, item->batch, {call.exchange, deadline_of(call), advance});
}

void JudgeRoutes::show_record(const Call& call, const std::string& job) {
  call.target.allow_only({});
  const auto item = service_.requests().item_of_job(job, call.sees);
  const auto record = item ? service_.record(*item) : std::nullopt;
  call.exchange->reply(record ? HttpReply{200, *record + "\n"}
                              : no_such(item ? "evaluation" : "job"));
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

void JudgeRoutes::wait(const std::string& owner, const std::string& batch, Waiter waiter) {
  waiter.owner = owner;
  const bool is_late = waiter.deadline <= Clock::now() || !has_room(waiter);
  if (!advance(waiter, is_late)) {
    waiters_.emplace(batch, std::move(waiter));
  }
}

/// An answer may have many readers, so they get it in the turns of their owners.
void JudgeRoutes::on_answer(const std::string& batch) {
  auto [at, end] = waiters_.equal_range(batch);
  while (at != end) {
    mark(at++); // which may erase it
  }
}

void JudgeRoutes::mark(Waiters::iterator waiter) {
  if (std::exchange(waiter->second.is_marked, true)) {
    return;
  }
  const std::string owner = waiter->second.owner;
  const auto [marked, is_new] = marked_.try_emplace(owner);
  marked->second.push_back(waiter);
  if (is_new) {
    setup_.in_turn(
        owner, [this, owner] { take_turn(owner); }, Turn::Last);
  }
}

void JudgeRoutes::take_turn(const std::string& owner) {
  const Clock::time_point end = Clock::now() + setup_.turn;
  std::deque<Waiters::iterator>& marked = marked_[owner];
  while (!marked.empty()) {
    const Waiters::iterator at = marked.front();
    marked.pop_front();
    if (go_on(at->second)) {
      waiters_.erase(at);
    }
    if (!marked.empty() && Clock::now() >= end) {
      setup_.in_turn(
          owner, [this, owner] { take_turn(owner); }, Turn::Last);
      return;
    }
  }
  marked_.erase(owner);
}

/// True: it waits no more.
bool JudgeRoutes::go_on(Waiter& waiter) {
  waiter.is_marked = false;
  const Clock::time_point now = Clock::now();
  const bool is_late = waiter.deadline <= now;
  if (is_late && waiter.again.count() > 0) {
    waiter.deadline = now + waiter.again;
  }
  return !waiter.exchange->is_open() || advance(waiter, is_late);
}

void JudgeRoutes::tick() {
  lines_.forget();
  const Clock::time_point now = Clock::now();
  std::vector<Waiters::iterator> due;
  for (auto at = waiters_.begin(); at != waiters_.end(); ++at) {
    if (at->second.deadline <= now || !at->second.exchange->is_open()) {
      due.push_back(at);
    }
  }
  std::sort(due.begin(), due.end(), // those who waited longest first
            [](const auto& a, const auto& b) { return a->second.deadline < b->second.deadline; });
  std::for_each(due.begin(), due.end(), [this](auto at) { mark(at); });
}

void JudgeRoutes::end() {
  marked_.clear();
  for (auto& [batch, waiter] : std::exchange(waiters_, {})) {
    if (waiter.again.count() > 0) {
      waiter.exchange->end_lines(); // without {"done":true}: the client comes again
    } else {
      advance(waiter, true);
    }
  }
}

} // namespace winnow::harness
