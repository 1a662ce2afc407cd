#include "lab/recorded_search.h"

#include "lab/recorded_log.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace winnow::lab {
namespace {

using Replies = std::map<search::CandidateId, RecordedCall>;
using tasks::Verdict;

/// The replies of a log, as they were judged.
Replies replies_of(const RecordedLog& log) {
  Replies replies;
  for (const RecordedLog::Call& call : log.calls()) {
    RecordedCall& reply = replies[call.reply.candidate];
    reply.op = call.ask.op;
    reply.choices = call.reply.choices.size();
    reply.is_settled = log.is_settled(call.reply.candidate);
    if (call.verdict) {
      reply.outcome = reply.of_default = call.verdict->outcome;
    }
  }
  for (const auto& [what, ended, result, is_used] : log.judgements()) {
    const auto reply = replies.find(what.candidate);
    if (reply == replies.end()) {
      continue; // a kernel before all calls
    }
    RecordedCall& call = reply->second;
    if (const auto* tried = std::get_if<search::Tried>(&result)) {
      const std::size_t turns = static_cast<std::size_t>(what.turns) * tried->trials.size();
      call.heats.push_back({turns, tried->device_seconds});
    } else if (const auto& outcome = std::get<search::Evaluated>(result).outcome;
               call.outcome.verdict == Verdict::NotJudged) {
      call.outcome = call.of_default = outcome;
    } else if (search::is_better(outcome, call.outcome)) {
      call.outcome = outcome;
    }
  }
  return replies;
}

void add_parent(const search::Ask& ask, const Replies& replies, RecordedCall& call) {
  const auto parent = ask.parents.empty() ? replies.end() : replies.find(ask.parents.front());
  if (parent == replies.end() || ask.op == "seed") {
    return;
  }
  call.state = state_after(parent->second.outcome.verdict);
  if (call.state == ParentState::Correct) {
    call.parent_cell = parent->second.outcome.cell;
  }
}

} // namespace

double RecordedCall::gain() const {
  return is_correct() && outcome.promoted ? std::max(0.0, level - best_before) : 0;
}

std::vector<RecordedCall> calls_of(const RecordedSearch& search) {
  const RecordedLog log(search.events);
  const Replies replies = replies_of(log);
  std::vector<RecordedCall> calls;
  double best = 0;
  for (const RecordedLog::Call& recorded : log.calls()) {
    RecordedCall call = replies.at(recorded.reply.candidate);
    if (call.outcome.verdict == Verdict::NotJudged) {
      continue;
    }
    add_parent(recorded.ask, replies, call);
    call.best_before = best;
    if (call.is_correct() && call.outcome.speedup > 0) {
      call.level = std::log(call.outcome.speedup);
    }
    best += call.gain();
    calls.push_back(std::move(call));
  }
  return calls;
}

} // namespace winnow::lab
