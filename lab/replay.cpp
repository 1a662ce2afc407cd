#include "lab/replay.h"

#include "lab/recorded_log.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include <fmt/format.h>

namespace winnow::lab {
namespace {

class Replayer {
public:
  Replayer(const RecordedSearch& recorded, const search::Policy& policy)
      : log_(recorded.events), search_(make_search(policy, recorded.settings)) {}

  Replay run() {
    replay_.recorded = log_.calls().size();
    for (const search::Added& first : log_.first_kernels()) {
      search_->apply(first);
    }
    while (decide_evaluations() && go_on()) {
    }
    return replay_;
  }

private:
  /// False: the log has no result of an evaluation.
  bool decide_evaluations() {
    const search::Capacity no_calls;
    while (const auto action = search_->decide(no_calls)) {
      const auto& evaluate = std::get<search::Evaluate>(*action);
      RecordedLog::Judgement* judgement = log_.find(evaluate);
      if (judgement == nullptr) {
        replay_.why_stopped = fmt::format("the log has no result of this judgement of candidate {}",
                                          evaluate.candidate);
        return false;
      }
      judgement->is_used = true;
      search_->apply(search::Decided{*action, no_calls});
      pending_.emplace(judgement->ended, judgement->result);
    }
    return true;
  }

  /// Takes the next step: a call, or the next event that is under way. False: there is none.
  bool go_on() {
    const search::Capacity capacity{1};
    const auto action = search_->decide(capacity);
    const auto* ask = action ? std::get_if<search::Ask>(&*action) : nullptr;
    RecordedLog::Call* call = ask != nullptr ? log_.find(*ask) : nullptr;
    // The recorded search decided this call after these events. Without an answer the policy waits,
    // as it may decide otherwise later.
    const bool waits =
        !pending_.empty() && (call == nullptr || pending_.begin()->first < call->decided);
    if (waits) {
      take_next();
      return true;
    }
    if (call == nullptr) {
      if (ask != nullptr) {
        replay_.why_stopped = "no reply is left to the call " + text_of(*ask);
      }
      return false;
    }
    call->is_used = true;
    search_->apply(search::Decided{*ask, capacity});
    search::Added reply = call->reply;
    reply.key = ask->key;
    pending_.emplace(call->answered, reply);
    if (call->verdict) {
      pending_.emplace(call->answered, *call->verdict); // equal keys keep their order
    }
    ++replay_.replayed;
    return true;
  }

  /// Applies the next event, and the verdict that came with it.
  void take_next() {
    const std::size_t position = pending_.begin()->first;
    while (!pending_.empty() && pending_.begin()->first == position) {
      take_first();
    }
  }

  void take_first() {
    search::Event event = std::move(pending_.begin()->second);
    pending_.erase(pending_.begin());
    if (auto* evaluated = std::get_if<search::Evaluated>(&event)) {
      evaluated->outcome.promoted = true; // this search decides anew
      evaluated->outcome.promoted = search_->promotes(evaluated->candidate, evaluated->outcome);
      search_->apply(event);
      count(evaluated->candidate);
      return;
    }
    const auto* tried = std::get_if<search::Tried>(&event);
    search_->apply(event);
    if (tried != nullptr) {
      count(tried->candidate);
    }
  }

  void count(search::CandidateId candidate) {
    const search::Individual* judged = search_->find(candidate);
    // The log may end while the parameters are tuned.
    const auto& outcome = judged->outcome ? judged->outcome : judged->of_default;
    if (judged->ask && outcome && outcome->promoted &&
        outcome->verdict == tasks::Verdict::Correct && outcome->speedup > 0) {
      replay_.best = std::max(replay_.best, std::log(outcome->speedup));
    }
  }

  static std::string text_of(const search::Ask& ask) {
    std::string parents;
    for (const search::CandidateId parent : ask.parents) {
      parents += fmt::format("{}{}", parents.empty() ? " of candidate " : " and ", parent);
    }
    return fmt::format("'{}'{}", ask.op, parents);
  }

  RecordedLog log_;
  std::unique_ptr<search::Search> search_;
  std::multimap<std::size_t, search::Event> pending_; ///< by position in the log
  Replay replay_;
};

} // namespace

Replay replay(const RecordedSearch& recorded, const search::Policy& policy) {
  Replay result = Replayer(recorded, policy).run();
  const std::vector<RecordedCall> calls = calls_of(recorded);
  for (std::size_t i = 0; i < std::min(result.replayed, calls.size()); ++i) {
    result.recorded_best += calls[i].gain();
  }
  return result;
}

} // namespace winnow::lab
