#include "base/error.h"
#include "evaluators/evaluation/sitting.h"

#include <vector>

namespace winnow::evaluators {
namespace {

/// The sittings of one request. A board without a sitting has failed.
class HeldSittings {
public:
  HeldSittings(const SittingRequest& request, const std::shared_ptr<DeviceHost>& host,
               const MachineOptions& machine, const HoldProgress& progress)
      : progress_(progress), answer_(failed_sittings(request, "")),
        sittings_(request.boards.size()) {
    EvaluationOptions options{request.protocol, machine};
    options.seed.reset(); // a sitting with repeated inputs would not be trustworthy
    for (std::size_t i = 0; i < sittings_.size(); ++i) {
      attempt(i,
              [&] { sittings_[i] = std::make_unique<Sitting>(request.boards[i], host, options); });
    }
  }

  void hold(const std::stop_token& stop) {
    const std::stop_callback cancel(stop, [this] { cancel_all(); });
    each(stop, [](Sitting& sitting) { sitting.admit(); });
    for (int round = 0; round < kSittingRounds; ++round) {
      each(stop, [](Sitting& sitting) { sitting.round(); });
    }
  }

  SittingAnswer answer(bool cancelled) {
    for (std::size_t i = 0; i < sittings_.size(); ++i) {
      if (cancelled) {
        answer_.boards[i].fault = "cancelled";
      } else if (answer_.boards[i].fault.empty()) {
        attempt(i, [&] { answer_.boards[i].result = sittings_[i]->result(); });
      }
    }
    return std::move(answer_);
  }

private:
  template <typename Step> void attempt(std::size_t board, Step step) {
    try {
      step();
    } catch (const Error& error) {
      answer_.boards[board].fault = with_remedy(error);
    }
  }

  template <typename Step> void each(const std::stop_token& stop, Step step) {
    for (std::size_t i = 0; i < sittings_.size() && !stop.stop_requested(); ++i) {
      progress_(steps_++, (1 + kSittingRounds) * static_cast<int>(sittings_.size()));
      if (answer_.boards[i].fault.empty()) {
        attempt(i, [&] { step(*sittings_[i]); });
      }
    }
  }

  void cancel_all() {
    for (const auto& sitting : sittings_) {
      if (sitting) {
        sitting->cancel();
      }
    }
  }

  const HoldProgress& progress_;
  int steps_ = 0;
  SittingAnswer answer_;
  std::vector<std::unique_ptr<Sitting>> sittings_; ///< fixed while hold() runs
};

} // namespace

SittingAnswer hold_sittings(const SittingRequest& request, const std::shared_ptr<DeviceHost>& host,
                            const MachineOptions& machine, const std::stop_token& stop,
                            const HoldProgress& progress) {
  HeldSittings sittings(request, host, machine, progress);
  sittings.hold(stop);
  return sittings.answer(stop.stop_requested());
}

} // namespace winnow::evaluators
