#include "harness/run/candidate_shelf.h"

#include "agents/reply.h"
#include "store/candidate_without_samples.h"

#include <algorithm>

namespace winnow::harness {
namespace {

// Each takes some ten kilobytes.
constexpr std::size_t kLeastOnTheShelf = 1000;
// A prompt names some ten candidates, and the next prompt of the same lineage most of them again.
constexpr std::size_t kForEachCall = 12;
constexpr std::size_t kMaxIdeaBytes = 400;

} // namespace

CandidateShelf::CandidateShelf(const store::RunStore& store, int parallel_calls)
    : store_(store),
      most_(std::max(kLeastOnTheShelf, kForEachCall * static_cast<std::size_t>(parallel_calls))) {}

const ShelvedCandidate& CandidateShelf::at(store::RowId candidate) {
  if (const auto known = shelf_.find(candidate); known != shelf_.end()) {
    return known->second;
  }
  if (shelf_.size() >= most_) {
    shelf_.clear();
  }
  store::CandidateState stored = store::candidate_without_samples(store_, candidate);
  ShelvedCandidate& shelved = shelf_[candidate];
  shelved.parent = stored.row.parent_id;
  shelved.idea = agents::idea_of(stored.reply, kMaxIdeaBytes);
  shelved.evaluation.verdict = tasks::Verdict::Infrastructure;
  if (stored.best) {
    shelved.evaluation = *std::move(stored.best);
  }
  if (shelved.evaluation.verdict != tasks::Verdict::BadReply) {
    shelved.text = std::move(stored.row.text);
  }
  return shelved;
}

} // namespace winnow::harness
