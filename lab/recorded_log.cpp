#include "lab/recorded_log.h"

#include <algorithm>

namespace winnow::lab {

using search::CandidateId;

RecordedLog::RecordedLog(const std::vector<search::Event>& events) {
  std::map<std::string, Call> asked;
  std::vector<search::Evaluate> begun;
  const auto end_of = [&](std::size_t position, CandidateId candidate, const search::Event& result,
                          const auto& fits) {
    const auto found = std::find_if(begun.begin(), begun.end(), [&](const auto& what) {
      return what.candidate == candidate && fits(what);
    });
    if (found != begun.end()) {
      judgements_.push_back({*found, position, result});
      begun.erase(found);
    }
  };
  for (std::size_t i = 0; i < events.size(); ++i) {
    const search::Event& event = events[i];
    if (const auto* decided = std::get_if<search::Decided>(&event)) {
      if (const auto* ask = std::get_if<search::Ask>(&decided->action)) {
        asked[ask->key] = {*ask, i, 0, {}};
      } else if (const auto* evaluate = std::get_if<search::Evaluate>(&decided->action)) {
        begun.push_back(*evaluate);
      }
    } else if (const auto* added = std::get_if<search::Added>(&event)) {
      if (added->key.empty()) {
        first_kernels_.push_back(*added);
      } else if (const auto call = asked.find(added->key); call != asked.end()) {
        call->second.answered = i;
        call->second.reply = *added;
        calls_.push_back(call->second);
      }
    } else if (const auto* evaluated = std::get_if<search::Evaluated>(&event)) {
      contents_.try_emplace(evaluated->candidate, evaluated->outcome.kernel);
      end_of(i, evaluated->candidate, event, [](const auto& what) { return !what.is_heat(); });
    } else if (const auto* tried = std::get_if<search::Tried>(&event)) {
      end_of(i, tried->candidate, event, [&](const auto& what) {
        return what.is_heat() && what.choices.size() == tried->trials.size() &&
               std::equal(
                   what.choices.begin(), what.choices.end(), tried->trials.begin(),
                   [](const auto& choice, const auto& trial) { return choice == trial.choice; });
      });
    } else if (const auto* faulted = std::get_if<search::Faulted>(&event)) {
      std::erase_if(begun, [&](const auto& what) {
        return what.candidate == faulted->candidate && what.turns == faulted->turns;
      });
    }
  }
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
