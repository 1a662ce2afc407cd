#pragma once

#include "base/fields.h"
#include "search/outcome.h"
#include "search/trial.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace winnow::search {

using CandidateId = std::int64_t; ///< the candidate's row in the store

/// A candidate that a prompt shows, and its number among the attempts of its lineage, from 1.
struct Card {
  CandidateId candidate = 0;
  int number = 0;
  bool operator==(const Card&) const = default;
};
WINNOW_FIELDS(Card, candidate, number)

/// Ask a model for a kernel, or for the advice of a role (search/role.h).
struct Ask {
  std::string key;                  ///< names the call within its run: "row_softmax/0/3"
  std::size_t lineage = 0;          ///< proposals of a lineage build on one another
  std::string op = "improve";       ///< the operator: what the model is asked to do
  std::string model;                ///< which of Settings::models is asked; empty: the only one
  std::vector<CandidateId> parents; ///< builds on these; the first counts most; there may be none
  std::optional<Card> best;         ///< the fastest correct attempt so far
  std::optional<Card> previous;     ///< the latest attempt, if it is worth showing in full
  std::optional<Card> second;       ///< crossover: the other parent; contrast: the slower kernel
  std::vector<Card> history;        ///< the newest attempts of the lineage, oldest first
  std::vector<Card> families;       ///< seed: the best kernel of each structure, fastest first
  std::vector<Card> failures;       ///< newest kernels that are slower than their parent
  int older = 0;                    ///< number of attempts before `history`
  /// The key of the judge's call whose advice the prompt shows; empty: the prompt shows none.
  std::string advice = {};
  /// The key of the meta-prompter's call whose words the prompt uses; empty: the built-in words.
  std::string variant = {};
  /// One of Settings::missions; empty: the call has none.
  std::string mission = {};
  int mission_repeats = 0; ///< so many calls that show the same have this mission already
  bool memory = false;     ///< the prompt shows lessons of other tasks
  bool exemplar = false;   ///< the prompt shows a kernel of another task of the category
  /// Of the judge's call: key, operator and model of the call that waits for the advice. All fields
  /// that are not named here are those of the waiting call.
  std::string waiting_key = {}, waiting_op = {}, waiting_model = {};
  bool operator==(const Ask&) const = default;
};

/// Evaluate a candidate: one choice of its parameters in full, or a heat of its tuning.
struct Evaluate {
  CandidateId candidate = 0;
  std::optional<CandidateId> incumbent = {};        ///< the candidate races against this kernel
  std::vector<tasks::ParameterChoice> choices = {}; ///< none: the default, in full
  int turns = 0; ///< times the choices so often beside the default; 0: evaluates one in full
  bool is_heat() const { return turns > 0; }
  bool operator==(const Evaluate&) const = default;
};

using Action = std::variant<Ask, Evaluate>;

/// What may be started now.
struct Capacity {
  static constexpr int kUnlimited = std::numeric_limits<int>::max();
  int asks = 0; ///< number of further calls
  /// Number of further evaluations until each device has one at work and one that is compiled in
  /// the meantime. Strategies do not heed it; the forecaster does.
  int evaluations = kUnlimited;
};

/// `action` is under way. The search had decided it at this capacity.
struct Decided {
  Action action;
  Capacity capacity;
};
/// The store has a new candidate.
struct Added {
  CandidateId candidate = 0;
  /// Of the call whose reply it is. Empty: the task's baseline if it has one, or after it the
  /// kernel that the user starts from.
  std::string key;
  double dollars = 0; ///< the cost of the call; 0: none, or not known
  /// The choices of its parameters that may be tried, the default first; empty: it is not tuned.
  std::vector<tasks::ParameterChoice> choices = {};
  /// What its text tells before it is compiled, as numbers by name. Only the forecaster's rival,
  /// SpeedNeighbours, heeds them.
  std::map<std::string, double> facts = {};
  /// The cost of the judge's call about the parent. The log does not have it: Counsel knows it.
  double role_dollars = 0;
};
/// A choice of the candidate's parameters was evaluated in full.
struct Evaluated {
  CandidateId candidate = 0;
  Outcome outcome;
};
WINNOW_FIELDS(Evaluated, candidate, outcome)
/// A heat of the candidate's tuning has ended.
struct Tried {
  CandidateId candidate = 0;
  std::vector<Trial> trials; ///< in the order of Evaluate::choices
  double device_seconds = 0;
};
WINNOW_FIELDS(Tried, candidate, trials, device_seconds)
/// The evaluation has no result: the machine failed, or the incumbent was suspended.
struct Faulted {
  CandidateId candidate = 0;
  std::vector<tasks::ParameterChoice> choices = {}; ///< of Evaluate
  int turns = 0;                                    ///< of Evaluate
};
/// The evaluation that counts for the candidate does not count any more: the candidate was
/// suspended as an incumbent. Old logs also say so when nobody trusted its worker. The candidate is
/// evaluated again.
struct Withdrawn {
  CandidateId candidate = 0;
  /// Of its parameters, as the withdrawn evaluation had them; empty: it has none.
  tasks::ParameterChoice choice = {};
};
WINNOW_FIELDS(Withdrawn, candidate, choice)
/// The call got no reply, and gets none in this session.
struct Unanswered {
  std::string key;
};
WINNOW_FIELDS(Unanswered, key)
/// The call of a role got a reply.
struct Advised {
  std::string key;
  std::string advice = {}; ///< JSON that the role's parser accepted; empty: the reply was of no use
  double dollars = 0;      ///< the cost of the call; 0: none, or not known
  double seconds = 0;      ///< from request to reply; 0: not known
  /// The candidate whose call pays for the advice; 0: none. The log does not have it: Counsel and
  /// ForecastQueue fill it in for the search inside.
  CandidateId about = 0;
};
/// The best kernel is as good as the user asks (run.until): the search makes no more calls.
struct Enough {
  std::string why; ///< for the user
};
WINNOW_FIELDS(Enough, why)
/// The search may make so many calls more than before, or fewer.
struct Granted {
  std::int64_t calls = 0;
};
WINNOW_FIELDS(Granted, calls)
/// A new session begins: what has failed may be tried again.
struct Resumed {};

using Event = std::variant<Decided, Added, Evaluated, Tried, Faulted, Unanswered, Resumed, Advised,
                           Withdrawn, Enough, Granted>;

/// An event as the store keeps it.
struct LogEntry {
  std::string kind;   ///< "decided", "added", "evaluated", "tried", "faulted", "unanswered",
                      ///< "resumed", "advised", "withdrawn", "enough", "granted"
  std::string detail; ///< JSON
};
LogEntry entry_of(const Event& event);
/// Throws Error for an entry that entry_of() does not make.
Event event_of(const LogEntry& entry);

} // namespace winnow::search
