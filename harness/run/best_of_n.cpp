#include "harness/run/best_of_n.h"

namespace winnow::harness {

std::vector<Proposal> BestOfN::next(const TaskHistory& history) const {
  std::vector<Proposal> proposals;
  for (std::size_t chain = 0; chain < proposals_; ++chain) {
    const Chain* past = history.find(chain);
    if (past == nullptr || (past->attempts.empty() && !past->ended)) {
      Proposal proposal;
      proposal.chain = chain;
      proposals.push_back(proposal);
    }
  }
  return proposals;
}

} // namespace winnow::harness
