#include "lab/session.h"

#include "base/error.h"
#include "lab/world.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <queue>
#include <utility>

namespace winnow::lab {
namespace {

using search::CandidateId;
using tasks::Verdict;

constexpr CandidateId kBaseline = 1;
// A search without a limit on calls may decide so many.
constexpr std::size_t kMostCalls = 2000;

class Session {
public:
  Session(const Landscape& landscape, const search::Policy& policy, const SessionPlan& plan,
          std::uint64_t seed)
      : plan_(plan), world_(landscape, seed), has_baseline_(landscape.task.has_baseline),
        search_(make_search(policy, settings_of(landscape, plan, seed))) {
    result_.settings = settings_of(landscape, plan, seed);
  }

  SessionResult run() {
    if (has_baseline_) {
      world_.add_baseline(kBaseline);
      apply(search::Added{kBaseline, "", 0, {}});
    }
    do {
      decide();
    } while (step());
    result_.why_done = search_->why_done();
    result_.curve = curve();
    return std::move(result_);
  }

private:
  struct Arrival {
    double at = 0;
    std::size_t order = 0; ///< ties end in the order of their beginning
    std::size_t call = 0;
    std::optional<search::Evaluate> judged; ///< nullopt: the reply to the call has come
    search::Outcome outcome;
    search::Tried tried;
    bool operator>(const Arrival& other) const {
      return std::pair(at, order) > std::pair(other.at, other.order);
    }
  };
  struct Call {
    search::Ask ask;
    World::Reply reply;
    double device_seconds = 0;   ///< of its evaluations and heats that have ended
    double settled_at = -1;      ///< negative: its kernel is not judged, or not tuned
    double best = 0, hidden = 0; ///< log speedups; 0 unless promoted
  };

  static search::Settings settings_of(const Landscape& landscape, const SessionPlan& plan,
                                      std::uint64_t seed) {
    search::Settings settings = plan.settings;
    settings.seed = seed;
    settings.task = "task";
    settings.has_baseline = landscape.task.has_baseline;
    settings.proposals = plan.limits.calls > 0 ? plan.limits.calls : kMostCalls;
    settings.evaluator_version = World::kEvaluatorVersion;
    settings.models.clear();
    for (const LabModel& model : landscape.models) {
      settings.models.push_back(model.name);
    }
    return settings;
  }

  void apply(const search::Event& event) {
    search_->apply(event);
    if (plan_.keeps_events) {
      result_.events.push_back(event);
    }
  }

  /// As the loop of a run: all evaluations first, then calls.
  void decide() {
    const search::Capacity no_calls;
    while (const auto action = search_->decide(no_calls)) {
      const auto* evaluate = std::get_if<search::Evaluate>(&*action);
      if (evaluate == nullptr) {
        throw Error("the lab cannot carry out this decision of the search");
      }
      apply(search::Decided{*action, no_calls});
      waiting_.push_back(*evaluate);
    }
    start_evaluations();
    while (may_call()) {
      const search::Capacity capacity{plan_.machine.parallel - calls_in_flight_};
      const auto action = search_->decide(capacity);
      const auto* ask = action ? std::get_if<search::Ask>(&*action) : nullptr;
      if (ask == nullptr || !start(*ask, capacity)) {
        return;
      }
    }
  }

  bool is_out_of_device_time() const {
    return plan_.limits.device_seconds > 0 && device_seconds_ >= plan_.limits.device_seconds;
  }

  bool may_call() const {
    return calls_in_flight_ < plan_.machine.parallel && !is_out_of_money_ &&
           !is_out_of_device_time() &&
           (plan_.limits.calls == 0 || calls_.size() < plan_.limits.calls);
  }

  bool start(const search::Ask& ask, const search::Capacity& capacity) {
    World::Reply reply = world_.answer(ask, calls_.size(), *search_);
    if (plan_.limits.dollars > 0 && reserved_ + reply.dollars > plan_.limits.dollars) {
      is_out_of_money_ = true;
      return false;
    }
    apply(search::Decided{ask, capacity});
    reserved_ += reply.dollars;
    if (plan_.keeps_events) {
      result_.calls.push_back({ask.key, ask.model, reply.dollars, reply.seconds});
    }
    Arrival arrival;
    arrival.at = now_ + reply.seconds;
    arrival.order = order_++;
    arrival.call = calls_.size();
    arrivals_.push(std::move(arrival));
    Call& call = calls_.emplace_back();
    call.ask = ask;
    call.reply = std::move(reply);
    ++calls_in_flight_;
    return true;
  }

  void start_evaluations() {
    while (busy_ < plan_.machine.devices && !waiting_.empty() && !is_out_of_device_time()) {
      Arrival arrival;
      arrival.judged = std::move(waiting_.front());
      waiting_.pop_front();
      double seconds = 0;
      if (arrival.judged->is_heat()) {
        arrival.tried = world_.try_choices(*arrival.judged);
        seconds = arrival.tried.device_seconds;
      } else {
        arrival.outcome = world_.evaluate(*arrival.judged, *search_);
        seconds = arrival.outcome.device_seconds;
      }
      device_seconds_ += seconds;
      arrival.at = now_ + seconds;
      arrival.order = order_++;
      arrivals_.push(std::move(arrival));
      ++busy_;
    }
  }

  /// Goes on to the next event. False: nothing is under way.
  bool step() {
    if (arrivals_.empty()) {
      return false;
    }
    const Arrival arrival = arrivals_.top();
    arrivals_.pop();
    now_ = arrival.at;
    if (!arrival.judged) {
      take_reply(arrival.call);
      return true;
    }
    --busy_;
    const search::Evaluate& judged = *arrival.judged;
    (judged.candidate == kBaseline ? baseline_seconds_
                                   : call_of(judged.candidate).device_seconds) +=
        judged.is_heat() ? arrival.tried.device_seconds : arrival.outcome.device_seconds;
    if (judged.is_heat()) {
      apply(arrival.tried);
    } else {
      take_outcome(arrival);
    }
    settle(judged.candidate);
    return true;
  }

  static CandidateId candidate_of(std::size_t call) {
    return kBaseline + 1 + static_cast<CandidateId>(call);
  }
  Call& call_of(CandidateId candidate) {
    return calls_[static_cast<std::size_t>(candidate - kBaseline - 1)];
  }

  void take_reply(std::size_t number) {
    --calls_in_flight_;
    const Call& call = calls_[number];
    const CandidateId candidate = candidate_of(number);
    world_.add(candidate, call.reply.kernel);
    apply(search::Added{candidate, call.ask.key, call.reply.dollars, call.reply.kernel.choices});
  }

  void take_outcome(const Arrival& arrival) {
    search::Outcome outcome = arrival.outcome;
    const CandidateId candidate = arrival.judged->candidate;
    outcome.promoted = search_->promotes(candidate, outcome);
    apply(search::Evaluated{candidate, outcome});
  }

  /// Keeps what is true of a kernel when it is judged and tuned.
  void settle(CandidateId candidate) {
    const search::Individual* individual = search_->find(candidate);
    if (candidate == kBaseline || individual == nullptr || !individual->outcome) {
      return;
    }
    Call& call = call_of(candidate);
    call.settled_at = now_;
    const search::Outcome& outcome = *individual->outcome;
    if (outcome.verdict == Verdict::Correct && outcome.promoted) {
      call.best = world_.true_level(outcome.kernel);
      call.hidden = call.best - world_.kernel(candidate).hidden_loss;
    }
  }

  /// In the order of decisions. In the order of replies, cheap calls would seem to come first,
  /// because short replies are fast.
  std::vector<CurvePoint> curve() const {
    std::vector<CurvePoint> points(1);
    points.front().device_seconds = baseline_seconds_;
    for (const Call& call : calls_) {
      if (call.settled_at < 0) {
        continue;
      }
      CurvePoint point = points.back();
      ++point.calls;
      point.dollars += call.reply.dollars;
      point.device_seconds += call.device_seconds;
      point.seconds = std::max(point.seconds, call.settled_at);
      if (call.best > point.best) {
        point.best = call.best;
        point.hidden = call.hidden;
      }
      points.push_back(point);
    }
    return points;
  }

  SessionPlan plan_;
  World world_;
  bool has_baseline_;
  std::unique_ptr<search::Search> search_;
  SessionResult result_;
  std::vector<Call> calls_;
  std::deque<search::Evaluate> waiting_; ///< for a device
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  std::size_t order_ = 0;
  int calls_in_flight_ = 0, busy_ = 0;
  double now_ = 0;
  double baseline_seconds_ = 0;
  double device_seconds_ = 0; ///< of all evaluations that have begun
  double reserved_ = 0;       ///< dollars of all calls that have begun
  bool is_out_of_money_ = false;
};

double position(const CurvePoint& point, Axis axis) {
  switch (axis) {
  case Axis::Calls:
    return static_cast<double>(point.calls);
  case Axis::Dollars:
    return point.dollars;
  case Axis::DeviceSeconds:
    return point.device_seconds;
  }
  return 0;
}

} // namespace

SessionResult simulate(const Landscape& landscape, const search::Policy& policy,
                       const SessionPlan& plan, std::uint64_t seed) {
  const Limits& limits = plan.limits;
  if (limits.calls == 0 && limits.dollars <= 0 && limits.device_seconds <= 0) {
    throw Error("a simulated session needs a limit");
  }
  return Session(landscape, policy, plan, seed).run();
}

double mean_height(const std::vector<CurvePoint>& curve, Axis axis, double budget) {
  double sum = 0, height = 0, from = 0;
  for (const CurvePoint& point : curve) {
    const double to = std::min(position(point, axis), budget);
    sum += height * std::max(0.0, to - from);
    from = std::max(from, to);
    if (position(point, axis) > budget) {
      break;
    }
    height = point.best;
  }
  return (sum + height * (budget - from)) / budget;
}

Limits usual_price(const Landscape& landscape, std::size_t calls) {
  double dollars = 0, seconds = 0;
  for (const LabModel& model : landscape.models) {
    dollars += model.dollars / static_cast<double>(landscape.models.size());
  }
  for (const auto& [verdict, share] : landscape.verdicts_after(ParentState::Correct)) {
    const ParentState state = state_after(verdict);
    seconds += share * (state == ParentState::Correct ? landscape.device.right
                        : state == ParentState::Wrong ? landscape.device.wrong
                                                      : 0);
  }
  const auto count = static_cast<double>(calls);
  return {calls, dollars * count, seconds * count};
}

} // namespace winnow::lab
