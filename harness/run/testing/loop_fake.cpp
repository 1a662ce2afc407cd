#include "harness/run/testing/loop_fake.h"

#include "base/digest.h"
#include "base/error.h"
#include "evaluators/evaluation/evaluator.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

namespace winnow::harness::test {
namespace {

// Much longer than the time that a run needs from one call to the next.
constexpr std::chrono::milliseconds kNoMoreAreAsked{10};

struct Claim {
  std::string name;
  double speedup = 0;
  double hidden_speedup = 0;
};

/// The verdict and the speedups in a kernel's text; nullopt: there are none.
std::optional<Claim> claim_in(std::string_view text) {
  const std::size_t comment = text.find("// ");
  const std::size_t space = text.find(' ', comment + 3);
  if (comment == std::string_view::npos || space == std::string_view::npos) {
    return std::nullopt;
  }
  char* end = nullptr;
  const std::string numbers(text.substr(space));
  const double speedup = std::strtod(numbers.c_str(), &end);
  return Claim{std::string(text.substr(comment + 3, space - comment - 3)), speedup,
               std::strtod(end, nullptr)};
}

void race(tasks::Evaluation& evaluation, const std::optional<evaluators::KernelToBeat>& incumbent) {
  if (!incumbent) {
    return;
  }
  const Claim of_incumbent = claim_in(incumbent->text).value();
  tasks::RaceResult& race = evaluation.race.emplace();
  race.rival = digest_of(*incumbent);
  race.ratio = evaluation.speedup / of_incumbent.speedup;
  race.verdict = race.ratio > 1.1 ? "faster" : race.ratio < 1 / 1.1 ? "slower" : "tie";
  if (evaluation.hidden_speedup > 0 && of_incumbent.hidden_speedup > 0) {
    evaluation.hidden_race_ratio = evaluation.hidden_speedup / of_incumbent.hidden_speedup;
  }
}

} // namespace

std::string kernel_text(const std::string& verdict, double speedup, double hidden_speedup) {
  return fmt::format("/*@winnow\n{{}}\n@*/\n// {} {} {}\n__global__ void kernel() {{}}\n", verdict,
                     speedup, hidden_speedup);
}

std::string reply_text(const std::string& verdict, double speedup, double hidden_speedup) {
  return "Here it is.\n```cuda\n" + kernel_text(verdict, speedup, hidden_speedup) + "```\n";
}

ScriptedModel::ScriptedModel(Answer answer)
    : answer_(std::move(answer)), thread_([this] { work(); }) {}

ScriptedModel::~ScriptedModel() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    cancelled_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ScriptedModel::start(agents::ModelRequest request,
                          std::function<void(agents::ModelReply)> done) {
  if (on_ask) {
    on_ask(request.key);
  }
  {
    const std::lock_guard lock(mutex_);
    asked_.push_back(request.key);
    most_in_flight_ = std::max(most_in_flight_, ++in_flight_);
    pending_.push_back({std::move(request), std::move(done)});
  }
  changed_.notify_all();
}

void ScriptedModel::cancel_all() {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  changed_.notify_all();
}

std::vector<std::string> ScriptedModel::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

std::size_t ScriptedModel::most_in_flight() const {
  const std::lock_guard lock(mutex_);
  return most_in_flight_;
}

void ScriptedModel::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] {
      return (ending_ && pending_.empty()) || (!pending_.empty() && (!held_ || cancelled_));
    });
    if (pending_.empty()) {
      return;
    }
    Pending next = take(lock);
    --in_flight_;
    const bool cancelled = cancelled_;
    lock.unlock();
    agents::ModelReply reply;
    reply.status = agents::ModelReply::Status::Cancelled;
    next.done(cancelled ? reply : answer_(next.request));
    lock.lock();
  }
}

ScriptedModel::Pending ScriptedModel::take(std::unique_lock<std::mutex>& lock) {
  auto next = pending_.begin();
  if (order_) {
    changed_.wait_for(lock, kNoMoreAreAsked,
                      [this] { return ending_ || cancelled_ || pending_.size() >= waiting_; });
    next = std::min_element(pending_.begin(), pending_.end(),
                            [this](const Pending& pending, const Pending& other) {
                              return order_(pending.request.key, other.request.key);
                            });
  }
  Pending taken = std::move(*next);
  pending_.erase(next);
  return taken;
}

std::vector<tasks::Evaluation> FakeLane::evaluate(const evaluators::EvaluationRequest& request,
                                                  const std::stop_token&) {
  const std::optional<Claim> claim = claim_in(request.text);
  if (!claim) {
    throw Error(request.file_name + ": no verdict in its text");
  }
  tasks::Evaluation evaluation;
  evaluation.verdict = tasks::verdict_from_string(claim->name).value();
  evaluation.stage = tasks::Stage::Done;
  if (evaluation.verdict == tasks::Verdict::Correct) {
    evaluation.speedup = claim->speedup;
    evaluation.hidden_speedup = claim->hidden_speedup;
    evaluation.score_ns = 1000 / evaluation.speedup;
    race(evaluation, request.incumbent);
  } else {
    evaluation.detail = "as its text says";
  }
  evaluation.device = "cpu";
  evaluation.device_name = "double";
  evaluation.isolation = "rlimits";
  evaluation.evaluator_version = evaluators::kEvaluatorVersion;
  evaluation.started_at = "2026-01-01T00:00:00.000Z";
  return {evaluation};
}

evaluators::EvaluationsFactory on_lane(std::function<std::unique_ptr<evaluators::Lane>()> lane) {
  return [lane = std::move(lane)](evaluators::TakeResult done) {
    evaluators::LocalEvaluations::Setup setup;
    setup.lanes.push_back(lane());
    setup.done = std::move(done);
    return std::make_unique<evaluators::LocalEvaluations>(std::move(setup));
  };
}

agents::ModelReply ok_reply(const std::string& text) {
  agents::ModelReply reply;
  reply.status = agents::ModelReply::Status::Ok;
  reply.text = text;
  reply.finish_reason = "stop";
  reply.model = "double";
  reply.usage.prompt_tokens = 100;
  reply.usage.completion_tokens = 10;
  reply.dollars = 0.01;
  return reply;
}

agents::ModelReply failed_reply(const std::string& error) {
  agents::ModelReply reply;
  reply.status = agents::ModelReply::Status::Failed;
  reply.error = error;
  return reply;
}

tasks::Task small_task(const std::string& name) {
  tasks::Task task;
  task.name = name;
  task.category = "test";
  task.title = name;
  task.baseline = kernel_text("correct", 1.0) + "// of " + name + "\n";
  task.digest = sha256_hex(name);
  return task;
}

} // namespace winnow::harness::test
