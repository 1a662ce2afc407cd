#pragma once

#include "evaluators/evaluation/evaluations.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace winnow::harness::test {

/// A kernel file to which the fakes give this verdict and speedup. `name` tells files apart;
/// "x time=500" gives it a time in ns, too.
std::string kernel_saying(const std::string& verdict, double speedup, const std::string& name = {});
/// A correct kernel file with the parameter TIMES of 1, 2 or 3, by which a choice multiplies the
/// speedup. The choice `wrong_at` is wrong; 0: none is.
std::string family_saying(double speedup, int wrong_at = 0);
/// The evaluation that the text asks for. Its hidden case has the shape "SECRET".
tasks::Evaluation evaluation_of_text(const std::string& text,
                                     const tasks::ParameterChoice& choice = {});

/// Keeps requests until the test answers them.
class HeldEvaluations : public evaluators::Evaluations {
public:
  explicit HeldEvaluations(evaluators::TakeResult done) : done_(std::move(done)) {}
  void submit(evaluators::EvaluationRequest request) override {
    requests.push_back(std::move(request));
  }
  void cancel(const std::string& id) override { cancelled.insert(id); }
  evaluators::SittingAnswer hold(const evaluators::SittingRequest& request, const std::stop_token&,
                                 const evaluators::HoldProgress&) override {
    return evaluators::failed_sittings(request, "a fake holds no sittings");
  }
  void stop() override {}

  void answer();                       ///< the oldest request, as its text says
  void fail(const std::string& fault); ///< the oldest request
  void answer_all();

  std::deque<evaluators::EvaluationRequest> requests;
  std::set<std::string> cancelled;
  std::string worker; ///< that the answers come from

private:
  evaluators::TakeResult done_;
};

/// Answers each request after a delay, on threads of its own, as its text says. Every n-th answer
/// is a fault of the machine; 0: none is.
class DelayedEvaluations : public evaluators::Evaluations {
public:
  struct Setup {
    unsigned lanes = 1;
    std::chrono::milliseconds delay{0};
    unsigned fault_every = 0;
    std::chrono::milliseconds begin_after{0}; ///< before the first answer
  };
  DelayedEvaluations(const Setup& setup, evaluators::TakeResult done);
  ~DelayedEvaluations() override;
  DelayedEvaluations(const DelayedEvaluations&) = delete; // owns threads
  DelayedEvaluations& operator=(const DelayedEvaluations&) = delete;

  void submit(evaluators::EvaluationRequest request) override;
  void cancel(const std::string& id) override;
  evaluators::SittingAnswer hold(const evaluators::SittingRequest& request, const std::stop_token&,
                                 const evaluators::HoldProgress&) override {
    return evaluators::failed_sittings(request, "a fake holds no sittings");
  }
  void stop() override;

private:
  void work();

  Setup setup_;
  evaluators::TakeResult done_;
  std::mutex mutex_; ///< guards the members below, except threads_
  std::condition_variable changed_;
  std::deque<evaluators::EvaluationRequest> queue_;
  std::set<std::string> cancelled_;
  unsigned answered_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

} // namespace winnow::harness::test
