#include "lab/recorded_log.h"

#include <algorithm>

namespace winnow::lab {

using search::CandidateId;

RecordedLog::RecordedLog(const std::vector<search::Event>& events) {
  for (const search::Event& event : events) {
    std::visit([this](const auto& what) { on(what); }, event);
    ++position_;
  }
  // Two calls may be alike: the one that was decided first answers first.
  std::sort(calls_.begin(), calls_.end(),
            [](const Call& a, const Call& b) { return a.decided < b.decided; });
}

void RecordedLog::on(const search::Decided& decided) {
  if (const auto* ask = std::get_if<search::Ask>(&decided.action)) {
    Call& call = asked_[ask->key];
    call.ask = *ask;
    call.decided = position_;
  } else {
    begun_.push_back(std::get<search::Evaluate>(decided.action));
  }
}

void RecordedLog::on(const search::Added& added) {
  if (added.key.empty()) {
    first_kernels_.push_back(added);
  } else if (const auto call = asked_.find(added.key); call != asked_.end()) {
    call->second.answered = position_;
    call->second.reply = added;
    calls_.push_back(call->second);
  }
}

void RecordedLog::on(const search::Evaluated& evaluated) {
  contents_.try_emplace(evaluated.candidate, evaluated.outcome.kernel);
  const bool was_begun = end(evaluated, [&](const search::Evaluate& what) {
    return what.candidate == evaluated.candidate && !what.is_heat();
  });
  for (Call& call : calls_) {
    if (!was_begun && call.reply.candidate == evaluated.candidate) {
      call.verdict = evaluated;
    }
  }
}

void RecordedLog::on(const search::Tried& tried) {
  end(tried, [&](const search::Evaluate& what) {
    return what.candidate == tried.candidate && what.is_heat() &&
           std::equal(what.choices.begin(), what.choices.end(), tried.trials.begin(),
                      tried.trials.end(),
                      [](const auto& choice, const auto& trial) { return choice == trial.choice; });
  });
}

void RecordedLog::on(const search::Faulted& faulted) {
  std::erase_if(begun_, [&](const search::Evaluate& what) {
    return what.candidate == faulted.candidate && what.turns == faulted.turns &&
           (!what.is_heat() || what.choices == faulted.choices);
  });
}

/// A reader knows only the evaluation that counts in the end.
void RecordedLog::on(const search::Withdrawn& withdrawn) {
  std::erase_if(judgements_, [&](const Judgement& judgement) {
    return judgement.what.candidate == withdrawn.candidate && !judgement.what.is_heat();
  });
}

/// False: no evaluation that fits has begun.
template <typename Fits> bool RecordedLog::end(const search::Event& result, const Fits& fits) {
  const auto found = std::find_if(begun_.begin(), begun_.end(), fits);
  if (found == begun_.end()) {
    return false;
  }
  judgements_.push_back({*found, position_, result});
  begun_.erase(found);
  return true;
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
