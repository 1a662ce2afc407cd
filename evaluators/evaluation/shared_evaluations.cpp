#include "evaluators/evaluation/shared_evaluations.h"

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace winnow::evaluators {

struct SharedEvaluations::State {
  std::mutex mutex;                                                ///< guards `takers`
  std::map<std::string, std::shared_ptr<const TakeResult>> takers; ///< by id of a request
  std::unique_ptr<Evaluations> evaluations;

  void take(EvaluationResult result) {
    std::shared_ptr<const TakeResult> taker;
    {
      const std::lock_guard lock(mutex);
      const auto known = takers.find(result.id);
      if (known == takers.end()) {
        return; // its door has stopped
      }
      taker = std::move(known->second);
      takers.erase(known);
    }
    (*taker)(std::move(result));
  }
};

class SharedEvaluations::Door : public Evaluations {
public:
  Door(std::shared_ptr<State> state, TakeResult done)
      : state_(std::move(state)), done_(std::make_shared<Gate>(std::move(done))),
        taker_(std::make_shared<const TakeResult>(
            [gate = done_](EvaluationResult result) { gate->pass(std::move(result)); })) {}
  ~Door() override { Door::stop(); }
  Door(const Door&) = delete; // owns requests
  Door& operator=(const Door&) = delete;

  void submit(EvaluationRequest request) override {
    {
      const std::lock_guard lock(state_->mutex);
      state_->takers[request.id] = taker_;
    }
    state_->evaluations->submit(std::move(request));
  }
  void cancel(const std::string& id) override { state_->evaluations->cancel(id); }
  SittingAnswer hold(const SittingRequest& request, const std::stop_token& stop,
                     const HoldProgress& progress) override {
    return state_->evaluations->hold(request, stop, progress);
  }
  void stop() override {
    std::set<std::string> own;
    {
      const std::lock_guard lock(state_->mutex);
      for (const auto& [id, taker] : state_->takers) {
        if (taker == taker_) {
          own.insert(id);
        }
      }
      for (const std::string& id : own) {
        state_->takers.erase(id);
      }
    }
    done_->close();
    for (const std::string& id : own) {
      state_->evaluations->cancel(id);
    }
  }

private:
  /// Lets no result through after close() has returned.
  class Gate {
  public:
    explicit Gate(TakeResult done) : done_(std::move(done)) {}
    void pass(EvaluationResult result) {
      const std::lock_guard lock(mutex_);
      if (is_open_) {
        done_(std::move(result));
      }
    }
    void close() {
      const std::lock_guard lock(mutex_);
      is_open_ = false;
    }

  private:
    std::recursive_mutex mutex_; ///< done_ may stop its own door
    bool is_open_ = true;
    TakeResult done_;
  };

  std::shared_ptr<State> state_;
  std::shared_ptr<Gate> done_;
  std::shared_ptr<const TakeResult> taker_;
};

SharedEvaluations::SharedEvaluations(const EvaluationsFactory& factory)
    : state_(std::make_shared<State>()) {
  state_->evaluations = factory([state = std::weak_ptr(state_)](EvaluationResult result) {
    if (const auto alive = state.lock()) {
      alive->take(std::move(result));
    }
  });
}

SharedEvaluations::~SharedEvaluations() {
  state_->evaluations->stop();
}

EvaluationsFactory SharedEvaluations::door() {
  return
      [state = state_](TakeResult done) { return std::make_unique<Door>(state, std::move(done)); };
}

} // namespace winnow::evaluators
