#include "remote/testing/pool_fake.h"

#include "base/error.h"
#include "remote/testing/evaluation_fake.h"
#include "tasks/parse/task_parse.h"

#include <utility>

namespace winnow::remote::test {

using evaluators::EvaluationRequest;
using evaluators::EvaluationResult;

namespace {

class LaneFake : public evaluators::Lane {
public:
  explicit LaneFake(Judge judge) : judge_(std::move(judge)) {}
  std::vector<tasks::Evaluation> evaluate(const EvaluationRequest& request,
                                          const std::stop_token& stop) override {
    return judge_(request, stop);
  }
  evaluators::SittingAnswer hold(const evaluators::SittingRequest& request,
                                 const std::stop_token& /*stop*/,
                                 const evaluators::HoldProgress& progress) override {
    progress(1, 2);
    evaluators::SittingAnswer answer{request.id, "cpu", {}};
    for (const auto& board : request.boards) {
      tasks::SittingResult& result = answer.boards.emplace_back().result.emplace();
      result.device = pool_rules().device_kind;
      result.device_name = pool_rules().device_name;
      result.evaluator_version = evaluators::kEvaluatorVersion;
      for (const evaluators::Finalist& finalist : board.finalists) {
        result.rows.emplace_back().kernel = finalist.kernel;
      }
    }
    return answer;
  }
  std::string worker() const override { return "cpu"; }

private:
  Judge judge_;
};

} // namespace

tasks::Evaluation evaluation_of_pool(tasks::Verdict verdict) {
  tasks::Evaluation evaluation =
      evaluators::blank_evaluation(pool_rules().device_kind, pool_rules().device_name, "rlimits");
  evaluation.verdict = verdict;
  return evaluation;
}

std::vector<tasks::Evaluation> judge_correct(const EvaluationRequest& request,
                                             const std::stop_token& /*stop*/) {
  return {simulated_evaluation(request, {})};
}

PoolRules pool_rules() {
  PoolRules rules;
  rules.device_kind = "cpu";
  rules.device_name = "a simulated processor";
  return rules;
}

Heartbeat heartbeat_of_pool(bool trusted) {
  Heartbeat heartbeat;
  heartbeat.pool = "pool";
  heartbeat.trusted = trusted;
  heartbeat.isolation = "rlimits";
  evaluators::DeviceReport& device = heartbeat.devices.emplace_back();
  device.kind = device.id = pool_rules().device_kind;
  device.name = pool_rules().device_name;
  return heartbeat;
}

EvaluationRequest request_of(const std::string& text) {
  static const auto task = std::make_shared<const tasks::Task>(
      tasks::load_task(std::string(WINNOW_SOURCE_DIR) + "/tasks/catalogue/blas/axpy"));
  EvaluationRequest request;
  request.task = task;
  request.text = task->baseline + "// " + text + "\n";
  request.file_name = text + ".cu";
  request.id = evaluators::request_id(request, 1);
  return request;
}

WorkerOnThread::WorkerOnThread(WorkerTransport& transport, Judge judge, bool trusted, bool hasty,
                               const std::string& name) {
  RemoteWorker::Setup setup{.transport = transport,
                            .evaluations = {},
                            .self = heartbeat_of_pool(trusted),
                            .name = name,
                            .say = [](const std::string&) {}};
  if (hasty) {
    setup.give_back_delay = std::chrono::milliseconds(1);
    setup.fetch_wait = std::chrono::milliseconds(20);
    setup.heartbeat_every = std::chrono::milliseconds(100);
  }
  setup.evaluations = [judge = std::move(judge)](evaluators::TakeResult done) {
    evaluators::LocalEvaluations::Setup local;
    local.lanes.push_back(std::make_unique<LaneFake>(judge));
    local.done = std::move(done);
    return std::make_unique<evaluators::LocalEvaluations>(std::move(local));
  };
  worker_ = std::make_unique<RemoteWorker>(std::move(setup));
  thread_ = std::thread([this] {
    try {
      worker_->run();
    } catch (const Error& error) {
      const std::lock_guard lock(mutex_);
      failure_ = error.what();
    }
  });
}

WorkerOnThread::~WorkerOnThread() {
  drain_and_join();
}

void WorkerOnThread::drain_and_join() {
  worker_->drain();
  if (thread_.joinable()) {
    thread_.join();
  }
}

std::string WorkerOnThread::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

evaluators::TakeResult Results::taker() {
  return [this](EvaluationResult result) {
    {
      const std::lock_guard lock(mutex_);
      results_.push_back(std::move(result));
    }
    changed_.notify_all();
  };
}

bool Results::wait_for(std::size_t count, std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [&] { return results_.size() >= count; });
}

std::map<std::string, int> Results::counts() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, int> counts;
  for (const EvaluationResult& result : results_) {
    ++counts[result.id];
  }
  return counts;
}

std::vector<EvaluationResult> Results::all() const {
  const std::lock_guard lock(mutex_);
  return results_;
}

} // namespace winnow::remote::test
