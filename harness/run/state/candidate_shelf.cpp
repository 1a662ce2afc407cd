#include "harness/run/state/candidate_shelf.h"

#include "agents/reply/reply.h"
#include "store/candidate_record.h"

#include <algorithm>

namespace winnow::harness {
namespace {

constexpr std::size_t kLeastOnTheShelf = 1000;
// A prompt shows up to four candidates, names some others with their ideas and tells a history of
// 20. The next prompt of the same lineage needs most of them again.
constexpr std::size_t kWholeForEachCall = 12;   // each takes some ten kilobytes
constexpr std::size_t kEarlierForEachCall = 32; // each takes some hundred bytes
constexpr std::size_t kMaxIdeaBytes = 400;

std::size_t room_for(int parallel_calls, std::size_t for_each_call) {
  return std::max(kLeastOnTheShelf, for_each_call * static_cast<std::size_t>(parallel_calls));
}

} // namespace

CandidateShelf::CandidateShelf(const store::RunStore& store, int parallel_calls)
    : store_(store), whole_(room_for(parallel_calls, kWholeForEachCall)),
      earlier_(room_for(parallel_calls, kEarlierForEachCall)) {}

const ShelvedCandidate& CandidateShelf::at(store::RowId candidate) {
  if (const ShelvedCandidate* known = whole_.find(candidate)) {
    return *known;
  }
  store::CandidateState stored = store::candidate_without_samples(store_, candidate);
  ShelvedCandidate shelved;
  shelved.parent = stored.row.parent_id;
  shelved.idea = agents::idea_of(stored.reply, kMaxIdeaBytes);
  shelved.evaluation.verdict = tasks::Verdict::Infrastructure;
  if (stored.best) {
    shelved.evaluation = *std::move(stored.best);
  }
  if (shelved.evaluation.verdict != tasks::Verdict::BadReply) {
    shelved.text = std::move(stored.row.text);
  }
  return whole_.put(candidate, std::move(shelved));
}

agents::EarlierAttempt CandidateShelf::earlier(store::RowId candidate) {
  if (const agents::EarlierAttempt* known = earlier_.find(candidate)) {
    return *known;
  }
  return earlier_.put(candidate, agents::earlier_attempt(0, at(candidate).evaluation));
}

void CandidateShelf::forget(store::RowId candidate) {
  whole_.erase(candidate);
  earlier_.erase(candidate);
}

} // namespace winnow::harness
