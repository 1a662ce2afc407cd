#include "harness/run/testing/loop_fake.h"

#include "base/digest.h"
#include "base/error.h"
#include "evaluators/evaluation/blank_evaluation.h"

#include <algorithm>
#include <chrono>
#include <cmath>
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
  double gain = 0; ///< see family_reply_text()
  double speed_of(const tasks::ParameterChoice& choice) const {
    return choice.empty() ? speedup
                          : speedup * std::pow(gain, static_cast<double>(choice.at("P") - 1));
  }
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
  Claim claim{std::string(text.substr(comment + 3, space - comment - 3))};
  claim.speedup = std::strtod(numbers.c_str(), &end);
  claim.hidden_speedup = std::strtod(end, &end);
  claim.gain = std::strtod(end, nullptr);
  return claim;
}

void race(tasks::Evaluation& evaluation, const std::optional<evaluators::KernelToBeat>& incumbent) {
  if (!incumbent) {
    return;
  }
  const Claim of_incumbent = claim_in(incumbent->text).value();
  tasks::RaceResult& race = evaluation.race.emplace();
  race.rival = digest_of(*incumbent);
  const double ratio = evaluation.speedup / of_incumbent.speed_of(incumbent->parameters);
  race.ratio = ratio;
  race.verdict = ratio > 1.1 ? "faster" : ratio < 1 / 1.1 ? "slower" : "tie";
  if (evaluation.hidden_speedup > 0 && of_incumbent.hidden_speedup > 0) {
    evaluation.hidden_race_ratio = evaluation.hidden_speedup / of_incumbent.hidden_speedup;
  }
}

tasks::Evaluation blank(tasks::Verdict verdict, const tasks::ParameterChoice& choice) {
  tasks::Evaluation evaluation = evaluators::blank_evaluation("cpu", "double", "rlimits");
  evaluation.verdict = verdict;
  evaluation.parameters = choice;
  evaluation.started_at = "2026-01-01T00:00:00.000Z";
  return evaluation;
}

tasks::Evaluation trial_of(const Claim& claim, const tasks::ParameterChoice& choice) {
  tasks::Evaluation evaluation = blank(tasks::Verdict::NotJudged, choice);
  evaluation.stage = tasks::Stage::Time;
  tasks::CaseResult& timed = evaluation.cases.emplace_back();
  timed.stage = tasks::Stage::Time;
  timed.samples_ns = {1000 / claim.speed_of(choice)};
  timed.incumbent_samples_ns = {1000 / claim.speedup};
  return evaluation;
}

tasks::Evaluation evaluation_of(const Claim& claim, const tasks::ParameterChoice& choice,
                                const evaluators::EvaluationRequest& request) {
  const tasks::Verdict verdict = tasks::verdict_from_string(claim.name).value();
  // Without a choice the default of a family is evaluated.
  const bool is_family = claim.gain > 0;
  tasks::Evaluation evaluation =
      blank(verdict, is_family && choice.empty() ? tasks::ParameterChoice{{"P", 1}} : choice);
  evaluation.stage = tasks::Stage::Done;
  if (verdict == tasks::Verdict::Correct) {
    evaluation.speedup = claim.speed_of(choice);
    evaluation.hidden_speedup = claim.hidden_speedup;
    evaluation.score_ns = 1000 / evaluation.speedup;
    race(evaluation, request.incumbent);
  } else {
    evaluation.detail = "as its text says";
  }
  return evaluation;
}

} // namespace

std::string kernel_text(const std::string& verdict, double speedup, double hidden_speedup) {
  return fmt::format("/*@winnow\n{{}}\n@*/\n// {} {} {}\n__global__ void kernel() {{}}\n", verdict,
                     speedup, hidden_speedup);
}

std::string reply_text(const std::string& verdict, double speedup, double hidden_speedup) {
  return "Here it is.\n```cuda\n" + kernel_text(verdict, speedup, hidden_speedup) + "```\n";
}

std::string family_reply_text(double speedup, double gain) {
  return fmt::format("```cuda\n/*@winnow\n{{\"params\": {{\"P\": [1, 2, 3]}}, \"launches\": "
                     "[{{\"kernel\": \"kernel\", \"grid\": 1, \"block\": 1, \"args\": []}}]}}\n"
                     "@*/\n// correct {} 0 {}\n__global__ void kernel() {{}}\n```\n",
                     speedup, gain);
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
  std::vector<tasks::Evaluation> evaluations;
  for (const tasks::ParameterChoice& choice : request.choices) {
    evaluations.push_back(request.depth == evaluators::Depth::Trial
                              ? trial_of(*claim, choice)
                              : evaluation_of(*claim, choice, request));
  }
  return evaluations.empty() ? std::vector{evaluation_of(*claim, {}, request)} : evaluations;
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
