#include "harness/loop_doubles.h"

#include "base/digest.h"
#include "base/error.h"
#include "evaluators/evaluator.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace winnow::harness::test {

std::string kernel_text(const std::string& verdict, double speedup, double hidden_speedup) {
  return fmt::format("/*@winnow\n{{}}\n@*/\n// {} {} {}\n__global__ void kernel() {{}}\n", verdict,
                     speedup, hidden_speedup);
}

std::string reply_text(const std::string& verdict, double speedup, double hidden_speedup) {
  return "Here it is.\n```cuda\n" + kernel_text(verdict, speedup, hidden_speedup) + "```\n";
}

FakeEndpoint::FakeEndpoint(Answer answer)
    : answer_(std::move(answer)), thread_([this] { work(); }) {}

FakeEndpoint::~FakeEndpoint() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    cancelled_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void FakeEndpoint::start(agents::ModelRequest request,
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

void FakeEndpoint::cancel_all() {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  changed_.notify_all();
}

std::vector<std::string> FakeEndpoint::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

std::size_t FakeEndpoint::most_in_flight() const {
  const std::lock_guard lock(mutex_);
  return most_in_flight_;
}

void FakeEndpoint::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] {
      return (ending_ && pending_.empty()) || (!pending_.empty() && (!held_ || cancelled_));
    });
    if (pending_.empty()) {
      return;
    }
    Pending next = std::move(pending_.front());
    pending_.pop_front();
    --in_flight_;
    const bool cancelled = cancelled_;
    lock.unlock();
    agents::ModelReply reply;
    reply.status = agents::ModelReply::Status::Cancelled;
    next.done(cancelled ? reply : answer_(next.request));
    lock.lock();
  }
}

std::vector<tasks::Evaluation> FakeJudge::judge(std::string_view text, std::string file_name,
                                                std::size_t) {
  const std::size_t comment = text.find("// ");
  const std::size_t space = text.find(' ', comment + 3);
  if (comment == std::string_view::npos || space == std::string_view::npos) {
    throw Error(file_name + ": no verdict in its text");
  }
  tasks::Evaluation evaluation;
  evaluation.verdict =
      tasks::verdict_from_string(text.substr(comment + 3, space - comment - 3)).value();
  evaluation.stage = tasks::Stage::Done;
  if (evaluation.verdict == tasks::Verdict::Correct) {
    char* end = nullptr;
    const std::string numbers(text.substr(space));
    evaluation.speedup = std::strtod(numbers.c_str(), &end);
    evaluation.hidden_speedup = std::strtod(end, nullptr);
    evaluation.score_ns = 1000 / evaluation.speedup;
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
