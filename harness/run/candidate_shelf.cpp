#include "harness/run/candidate_shelf.h"

#include "agents/reply.h"

namespace winnow::harness {
namespace {

// A prompt names some twenty candidates; each takes some ten kilobytes.
constexpr std::size_t kMostOnTheShelf = 1000;
constexpr std::size_t kMaxIdeaBytes = 400;

void drop_samples(tasks::Evaluation& evaluation) {
  for (tasks::CaseResult& result : evaluation.cases) {
    for (auto* samples : {&result.samples_ns, &result.baseline_samples_ns,
                          &result.incumbent_samples_ns, &result.warm_samples_ns}) {
      *samples = {};
    }
  }
}

} // namespace

const ShelvedCandidate& CandidateShelf::at(store::RowId candidate) {
  if (const auto known = shelf_.find(candidate); known != shelf_.end()) {
    return known->second;
  }
  if (shelf_.size() >= kMostOnTheShelf) {
    shelf_.clear();
  }
  store::CandidateState stored = store_.candidate_state(candidate);
  ShelvedCandidate& shelved = shelf_[candidate];
  shelved.parent = stored.row.parent_id;
  shelved.idea = agents::idea_of(stored.reply, kMaxIdeaBytes);
  shelved.evaluation.verdict = tasks::Verdict::Infrastructure;
  if (stored.best) {
    shelved.evaluation = *std::move(stored.best);
    drop_samples(shelved.evaluation);
  }
  if (shelved.evaluation.verdict != tasks::Verdict::BadReply) {
    shelved.text = std::move(stored.row.text);
  }
  return shelved;
}

} // namespace winnow::harness
