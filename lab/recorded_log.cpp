#include "lab/recorded_log.h"

#include <algorithm>
#include <functional>

namespace winnow::lab {

using search::CandidateId;

/// Reads the events of a log in order.
class RecordedLog::Reader {
public:
  explicit Reader(RecordedLog& log) : log_(log) {}

  void read(const search::Event& event) {
    std::visit([this](const auto& what) { on(what); }, event);
    ++position_;
  }

private:
  void on(const search::Decided& decided) {
    if (const auto* ask = std::get_if<search::Ask>(&decided.action)) {
      Call& call = asked_[ask->key];
      call.ask = *ask;
      call.decided = position_;
    } else if (const auto* evaluate = std::get_if<search::Evaluate>(&decided.action)) {
      log_.begun_.push_back(*evaluate);
    }
  }
  void on(const search::Added& added) {
    if (added.key.empty()) {
      log_.first_kernels_.push_back(added);
    } else if (const auto call = asked_.find(added.key); call != asked_.end()) {
      call->second.answered = position_;
      call->second.reply = added;
      log_.calls_.push_back(call->second);
    }
  }
  void on(const search::Evaluated& evaluated) {
    log_.contents_.try_emplace(evaluated.candidate, evaluated.outcome.kernel);
    const bool was_begun = end(evaluated, [&](const search::Evaluate& what) {
      return what.candidate == evaluated.candidate && !what.is_heat();
    });
    if (!was_begun) {
      for (Call& call : log_.calls_) {
        if (call.reply.candidate == evaluated.candidate) {
          call.verdict = evaluated;
        }
      }
    }
  }
  void on(const search::Tried& tried) {
    end(tried, [&](const search::Evaluate& what) {
      return what.candidate == tried.candidate && what.is_heat() &&
             std::equal(
                 what.choices.begin(), what.choices.end(), tried.trials.begin(), tried.trials.end(),
                 [](const auto& choice, const auto& trial) { return choice == trial.choice; });
    });
  }
  void on(const search::Faulted& faulted) {
    std::erase_if(log_.begun_, [&](const search::Evaluate& what) {
      return what.candidate == faulted.candidate && what.turns == faulted.turns &&
             (!what.is_heat() || what.choices == faulted.choices);
    });
  }
  /// A replay knows only the evaluation that counts in the end.
  void on(const search::Withdrawn& withdrawn) {
    std::erase_if(log_.judgements_, [&](const auto& judgement) {
      return judgement.what.candidate == withdrawn.candidate && !judgement.what.is_heat();
    });
  }
  template <typename Other> void on(const Other& /*event*/) {}

  /// False: no evaluation that fits has begun.
  bool end(const search::Event& result, const std::function<bool(const search::Evaluate&)>& fits) {
    const auto found = std::find_if(log_.begun_.begin(), log_.begun_.end(), fits);
    if (found == log_.begun_.end()) {
      return false;
    }
    log_.judgements_.push_back({*found, position_, result});
    log_.begun_.erase(found);
    return true;
  }

  RecordedLog& log_;
  std::size_t position_ = 0;
  std::map<std::string, Call> asked_;
};

RecordedLog::RecordedLog(const std::vector<search::Event>& events) {
  Reader reader(*this);
  for (const search::Event& event : events) {
    reader.read(event);
  }
  // Two calls may be alike: the one that was decided first answers first.
  std::sort(calls_.begin(), calls_.end(),
            [](const Call& a, const Call& b) { return a.decided < b.decided; });
}

bool RecordedLog::is_settled(CandidateId candidate) const {
  return std::none_of(begun_.begin(), begun_.end(),
                      [&](const auto& what) { return what.candidate == candidate; });
}

/// A kernel without a verdict is like itself only.
std::string RecordedLog::content_of(CandidateId candidate) const {
  const auto content = contents_.find(candidate);
  return content == contents_.end() || content->second.empty() ? std::to_string(candidate)
                                                               : content->second;
}

bool RecordedLog::are_alike(const std::vector<CandidateId>& a,
                            const std::vector<CandidateId>& b) const {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [this](auto one, auto other) {
    return one == other || content_of(one) == content_of(other);
  });
}

RecordedLog::Call* RecordedLog::find(const search::Ask& ask) {
  const auto found = std::find_if(calls_.begin(), calls_.end(), [&](const Call& call) {
    return !call.is_used && call.ask.op == ask.op && call.ask.model == ask.model &&
           are_alike(call.ask.parents, ask.parents);
  });
  return found == calls_.end() ? nullptr : &*found;
}

RecordedLog::Judgement* RecordedLog::find(const search::Evaluate& what) {
  const auto found =
      std::find_if(judgements_.begin(), judgements_.end(), [&](const Judgement& judgement) {
        return !judgement.is_used && judgement.what.candidate == what.candidate &&
               judgement.what.turns == what.turns && judgement.what.choices == what.choices;
      });
  return found == judgements_.end() ? nullptr : &*found;
}

} // namespace winnow::lab
