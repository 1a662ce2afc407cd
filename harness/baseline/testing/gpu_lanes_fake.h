#pragma once

#include "evaluators/evaluation/blank_evaluation.h"
#include "evaluators/evaluation/local_evaluations.h"

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace winnow::harness::test {

/// What a simulated GPU answers to every request.
struct GpuFake {
  std::string uuid;
  double baseline_ns = 0;
  tasks::Verdict verdict = tasks::Verdict::Correct;
};

inline tasks::Evaluation evaluation_on(const GpuFake& gpu) {
  tasks::Evaluation evaluation;
  evaluation.verdict = gpu.verdict;
  evaluation.detail = gpu.verdict == tasks::Verdict::Correct ? "" : "y is wrong";
  evaluation.device = "cuda";
  evaluation.device_name = "NVIDIA H100";
  evaluation.device_uuid = gpu.uuid;
  evaluation.driver = "CUDA 13.0";
  evaluation.evaluator_version = evaluators::kEvaluatorVersion;
  evaluation.speedup = evaluation.score_ns = 1;
  evaluation.started_at = "2026-11-26T09:44:26.123Z";
  tasks::CaseResult timed;
  timed.stage = tasks::Stage::Time;
  timed.set = tasks::ShapeSet::Search;
  timed.shape_id = "search/0";
  timed.verdict = gpu.verdict;
  timed.baseline_median_ns = gpu.baseline_ns;
  evaluation.cases = {timed};
  return evaluation;
}

/// Where so many lanes wait for each other, again and again.
class Meeting {
public:
  explicit Meeting(std::size_t size) : size_(size) {}
  void arrive_and_wait(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const std::size_t place = arrived_++;
    const std::size_t last = (place / size_ + 1) * size_;
    changed_.notify_all();
    changed_.wait(lock, stop, [&] { return arrived_ >= last; });
  }

private:
  const std::size_t size_;
  std::mutex mutex_; ///< guards arrived_
  std::condition_variable_any changed_;
  std::size_t arrived_ = 0;
};

/// Answers when every lane has a request, so that no lane takes two of a round.
class GpuLaneFake : public evaluators::Lane {
public:
  GpuLaneFake(GpuFake gpu, std::shared_ptr<Meeting> all)
      : gpu_(std::move(gpu)), all_(std::move(all)) {}
  std::vector<tasks::Evaluation> evaluate(const evaluators::EvaluationRequest& /*request*/,
                                          const std::stop_token& stop) override {
    all_->arrive_and_wait(stop);
    return {evaluation_on(gpu_)};
  }
  std::string worker() const override { return "cuda:0 NVIDIA H100"; }

private:
  GpuFake gpu_;
  std::shared_ptr<Meeting> all_;
};

inline evaluators::EvaluationsFactory lanes_of(const std::vector<GpuFake>& gpus) {
  return [gpus](evaluators::TakeResult done) {
    const auto all = std::make_shared<Meeting>(gpus.size());
    evaluators::LocalEvaluations::Setup setup;
    for (const GpuFake& gpu : gpus) {
      setup.lanes.push_back(std::make_unique<GpuLaneFake>(gpu, all));
    }
    setup.done = std::move(done);
    return std::make_unique<evaluators::LocalEvaluations>(std::move(setup));
  };
}

} // namespace winnow::harness::test
