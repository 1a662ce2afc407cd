#pragma once

#include "agents/model/model_endpoint.h"
#include "evaluators/evaluation/local_evaluations.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace winnow::harness::test {

/// A reply with a kernel to which FakeLane gives this verdict and these speedups.
std::string reply_text(const std::string& verdict, double speedup, double hidden_speedup = 0);
/// The kernel file in reply_text().
std::string kernel_text(const std::string& verdict, double speedup, double hidden_speedup = 0);

/// A reply with a family of correct kernels, whose parameter P has the values 1 to 3. FakeLane
/// makes the choice P as much faster than P = 1 as `gain` says, P - 1 times.
std::string family_reply_text(double speedup, double gain);

/// Answers requests on its own thread, in the order in which they were asked. `answer` makes the
/// replies.
class ScriptedModel : public agents::ModelEndpoint {
public:
  using Answer = std::function<agents::ModelReply(const agents::ModelRequest&)>;
  explicit ScriptedModel(Answer answer);
  ~ScriptedModel() override;

  std::string_view kind() const override { return "fake"; }
  void start(agents::ModelRequest request, std::function<void(agents::ModelReply)> done) override;
  void cancel_all() override;

  /// From now on no request is answered until cancel_all(). Call this before the run.
  void hold() { held_ = true; }
  /// When `waiting` calls wait for an answer, or no new call comes for a moment, the call whose key
  /// is first in `order` is answered. Call this before the run.
  using Order = std::function<bool(const std::string& key, const std::string& other)>;
  void answer_in(Order order, std::size_t waiting) {
    order_ = std::move(order);
    waiting_ = waiting;
  }
  std::vector<std::string> asked() const;
  std::size_t most_in_flight() const;
  /// Called on the asking thread for every request.
  std::function<void(const std::string& key)> on_ask;

private:
  struct Pending {
    agents::ModelRequest request;
    std::function<void(agents::ModelReply)> done;
  };
  void work();
  Pending take(std::unique_lock<std::mutex>& lock);

  Answer answer_;
  Order order_; ///< empty: in the order in which they were asked
  std::size_t waiting_ = 1;
  std::atomic<bool> held_{false};
  mutable std::mutex mutex_; ///< guards all members below
  std::condition_variable changed_;
  std::deque<Pending> pending_;
  std::vector<std::string> asked_;
  std::size_t in_flight_ = 0;
  std::size_t most_in_flight_ = 0;
  bool cancelled_ = false;
  bool ending_ = false;
  std::thread thread_;
};

/// Gives the verdict that is written in the kernel's text. A race is decided by the speedups in the
/// texts; a difference of up to a tenth is a tie.
class FakeLane : public evaluators::Lane {
public:
  std::vector<tasks::Evaluation> evaluate(const evaluators::EvaluationRequest& request,
                                          const std::stop_token& stop) override;
};

/// Evaluations on one lane.
evaluators::EvaluationsFactory on_lane(std::function<std::unique_ptr<evaluators::Lane>()> lane);

agents::ModelReply ok_reply(const std::string& text);
agents::ModelReply failed_reply(const std::string& error);

/// A task with only names and a baseline that FakeLane judges as correct.
tasks::Task small_task(const std::string& name);

} // namespace winnow::harness::test
