#include "lab/recorded_search.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace winnow::lab {
namespace {

using search::CandidateId;
using tasks::Verdict;

/// Follows a log and keeps what the statistics need.
class LogReader {
public:
  void read(const search::Event& event) {
    std::visit([this](const auto& what) { on(what); }, event);
  }

  std::vector<RecordedCall> calls() const {
    std::vector<RecordedCall> calls;
    double best = 0;
    for (const search::Ask& ask : asks_) {
      const auto candidate = replies_.find(ask.key);
      const auto judged =
          candidate == replies_.end() ? judged_.end() : judged_.find(candidate->second);
      if (judged == judged_.end() || judged->second.outcome.verdict == Verdict::NotJudged) {
        continue;
      }
      RecordedCall call = judged->second;
      call.op = ask.op;
      add_parent(ask, call);
      call.is_settled = std::none_of(begun_.begin(), begun_.end(), [&](const auto& what) {
        return what.candidate == candidate->second;
      });
      call.best_before = best;
      if (call.is_correct() && call.outcome.speedup > 0) {
        call.level = std::log(call.outcome.speedup);
      }
      best += call.gain();
      calls.push_back(std::move(call));
    }
    return calls;
  }

private:
  void on(const search::Decided& decided) {
    if (const auto* ask = std::get_if<search::Ask>(&decided.action)) {
      asks_.push_back(*ask);
    } else if (const auto* evaluate = std::get_if<search::Evaluate>(&decided.action)) {
      begun_.push_back(*evaluate);
    }
  }
  void on(const search::Added& added) {
    judged_[added.candidate].choices = added.choices.size();
    if (!added.key.empty()) {
      replies_[added.key] = added.candidate;
    }
  }
  void on(const search::Evaluated& evaluated) {
    RecordedCall& call = judged_[evaluated.candidate];
    std::erase_if(begun_, [&](const auto& what) {
      return !what.is_heat() && what.candidate == evaluated.candidate;
    });
    if (call.outcome.verdict == Verdict::NotJudged) {
      call.outcome = call.of_default = evaluated.outcome;
    } else if (search::is_better(evaluated.outcome, call.outcome)) {
      call.outcome = evaluated.outcome;
    }
  }
  void on(const search::Tried& tried) {
    const auto begun = std::find_if(begun_.begin(), begun_.end(), [&](const auto& heat) {
      return heat.is_heat() && heat.candidate == tried.candidate &&
             heat.choices.size() == tried.trials.size() &&
             (tried.trials.empty() || heat.choices.front() == tried.trials.front().choice);
    });
    if (begun != begun_.end()) {
      const std::size_t turns = static_cast<std::size_t>(begun->turns) * tried.trials.size();
      judged_[tried.candidate].heats.push_back({turns, tried.device_seconds});
      begun_.erase(begun);
    }
  }
  void on(const search::Withdrawn& withdrawn) { judged_[withdrawn.candidate].outcome = {}; }
  template <typename Other> void on(const Other& /*event*/) {}

  void add_parent(const search::Ask& ask, RecordedCall& call) const {
    const auto parent = ask.parents.empty() ? judged_.end() : judged_.find(ask.parents.front());
    const bool is_reply = parent != judged_.end() &&
                          std::any_of(replies_.begin(), replies_.end(), [&](const auto& reply) {
                            return reply.second == parent->first;
                          });
    if (!is_reply || ask.op == "seed") {
      return;
    }
    call.state = state_after(parent->second.outcome.verdict);
    if (call.state == ParentState::Correct) {
      call.parent_cell = parent->second.outcome.cell;
    }
  }

  std::vector<search::Ask> asks_;
  std::vector<search::Evaluate> begun_; ///< evaluations and heats that have not ended
  std::map<std::string, CandidateId> replies_;
  std::map<CandidateId, RecordedCall> judged_;
};

} // namespace

double RecordedCall::gain() const {
  return is_correct() && outcome.promoted ? std::max(0.0, level - best_before) : 0;
}

std::vector<RecordedCall> calls_of(const RecordedSearch& search) {
  LogReader reader;
  for (const search::Event& event : search.events) {
    reader.read(event);
  }
  return reader.calls();
}

} // namespace winnow::lab
