#pragma once

#include "evaluators/evaluation/evaluations.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace winnow::evaluators {

/// One device at work for LocalEvaluations. One thread uses it, so that timings never share a
/// device.
class Lane {
public:
  virtual ~Lane() = default;
  /// Never throws because of the candidate. Throws Error if the machine cannot judge. Returns soon
  /// after a request to stop; then the result is discarded.
  virtual std::vector<tasks::Evaluation> evaluate(const EvaluationRequest& request,
                                                  const std::stop_token& stop) = 0;
  /// Prepares all that the request needs besides its candidate, while the first candidate is
  /// compiled. Throws Error.
  virtual void prepare(const EvaluationRequest& /*request*/, const std::stop_token& /*stop*/) {}
  /// Throws Error if the machine cannot hold them. Returns soon after a request to stop.
  virtual SittingAnswer hold(const SittingRequest& request, const std::stop_token& /*stop*/,
                             const HoldProgress& /*progress*/) {
    return failed_sittings(request, "this device holds no sittings");
  }
  /// Why the device can judge no more (it was lost); empty: it can.
  virtual std::string lost_device() const { return {}; }
  virtual std::string worker() const { return {}; } ///< EvaluationResult::worker
};

/// Evaluates on devices of this machine, oldest request first, each on the first device that
/// becomes free. A lost device gets no more requests, and the request that was on it goes to
/// another device. If no device is left, every result is a fault that says so.
class LocalEvaluations : public Evaluations {
public:
  struct Setup {
    std::vector<std::unique_ptr<Lane>> lanes;
    /// Compiles what a request will need, on extra threads while the devices work; empty: nothing
    /// is compiled ahead. Must return soon after the second argument returns true (cancelled).
    std::function<void(const EvaluationRequest&, const std::function<bool()>&)> compile_ahead = {};
    unsigned compile_threads = 0;
    TakeResult done = {}; ///< runs on the thread of a device
    /// Is told once of each device that was lost, on the thread of the device.
    std::function<void(const std::string&)> warn = {};
  };
  explicit LocalEvaluations(Setup setup);
  ~LocalEvaluations() override;
  LocalEvaluations(const LocalEvaluations&) = delete; // owns threads
  LocalEvaluations& operator=(const LocalEvaluations&) = delete;

  void submit(EvaluationRequest request) override;
  void cancel(const std::string& id) override;
  SittingAnswer hold(const SittingRequest& request, const std::stop_token& stop,
                     const HoldProgress& progress) override;
  void stop() override;

private:
  enum class State : std::uint8_t { Waiting, Compiling, Ready };
  struct Queued {
    EvaluationRequest request;
    State state = State::Waiting;
    bool cancelled = false;
    /// The choices of parameters are compiled one by one, by any number of threads.
    std::size_t begun = 0, compiled = 0;
    std::size_t choices() const { return std::max<std::size_t>(request.choices.size(), 1); }
    /// Of a hold() that waits. If it is set, `request` has nothing but the id.
    std::function<void(Lane&, const std::stop_token&)> hold = {};
  };
  /// What one device does; guarded by mutex_.
  struct Work {
    std::string id; ///< of the request that it evaluates; empty: of none
    std::stop_source stop;
    std::string lost; ///< why the device was lost; empty: it was not
  };

  void prepare(std::size_t lane);
  void evaluate_requests(std::size_t lane);
  void compile_requests();
  std::list<Queued>::iterator first_to_compile();
  std::optional<Queued> take(std::size_t lane, std::stop_token& stop);
  std::list<Queued>::iterator first_in(State state);
  EvaluationResult evaluate(const EvaluationRequest& request, std::size_t lane,
                            const std::stop_token& stop);
  bool any_device_left() const;

  Setup setup_;
  std::mutex mutex_; ///< guards the members below, except threads_
  std::condition_variable changed_;
  std::list<Queued> queue_;
  std::vector<Work> work_; ///< by lane
  bool stopping_ = false;

  std::vector<std::thread> threads_; ///< last, because the threads use all other members
};

} // namespace winnow::evaluators
