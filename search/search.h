#pragma once

#include "search/event.h"
#include "search/forecast_account.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::search {

/// A candidate as the search remembers it.
struct Individual {
  CandidateId id = 0;
  std::optional<Ask> ask;         ///< the call whose reply it is; nullopt: there was none
  int number = 0;                 ///< among the attempts of its lineage, from 1; 0: no attempt
  std::optional<Outcome> outcome; ///< nullopt: not judged yet, or its parameters are tuned
  /// While its parameters are tuned: the outcome of the default choice.
  std::optional<Outcome> of_default;
  double dollars = 0; ///< the cost of its call; 0: none, or not known
  /// What the judge, the verifier and the forecaster have cost for this candidate, as far as known.
  double role_dollars = 0;
  int faults = 0;      ///< evaluations that the machine has failed, in a row
  int withdrawals = 0; ///< evaluations that counted and do not count any more
  double gain = 0;     ///< what the outcome has gained over the leader before it, as a log speedup
};

/// What the calls of one operator to one model have cost and brought.
struct Earnings {
  std::string op;
  std::string model;      ///< Ask::model
  std::int64_t calls = 0; ///< that were decided
  std::int64_t correct = 0;
  double dollars = 0;      ///< as far as known
  std::int64_t copies = 0; ///< replies whose kernel the search had already
  double device_seconds = 0;
  double log_gain = 0; ///< sum of the gains over the best kernel at that time, as log speedups
  /// Adds the sums of `other`, and takes its names.
  Earnings& operator+=(const Earnings& other);
};

/// What the calls of one role have cost in a search, and whether the role still works.
struct RoleStanding {
  std::string role;
  std::int64_t calls = 0;  ///< that were decided
  std::int64_t useful = 0; ///< whose reply the role's parser accepted
  double dollars = 0;      ///< as far as known
  std::string off;         ///< why the search has switched the role off; empty: the role works
};

/// Decides what to do next on one task. All state is a fold of events: apply() is the only
/// mutation, and decide() is a function of the state and the capacity. It knows no text, endpoint,
/// device, disk or clock. So the same events in the same order give the same decisions; the log of
/// events in the store makes a resumed run go on as if it had never stopped.
class Search {
public:
  virtual ~Search() = default;
  /// The next thing to do; nullopt: nothing, until another event comes. The caller carries the
  /// action out and applies Decided, or leaves it.
  virtual std::optional<Action> decide(const Capacity& capacity) const = 0;
  virtual void apply(const Event& event) = 0;
  /// Whether a candidate with this outcome may lead, so that later kernels have to beat it. Ask
  /// before Evaluated is applied; the answer goes into Outcome::promoted.
  virtual bool promotes(CandidateId candidate, const Outcome& outcome) const = 0;
  /// nullptr: there is no such candidate.
  virtual const Individual* find(CandidateId candidate) const = 0;
  /// The kernel that an evaluation of the candidate would race against now; nullopt: none.
  virtual std::optional<CandidateId> rival_of(CandidateId candidate) const = 0;
  /// Whether the candidate that the advice is about is not evaluated. Ask before Advised is
  /// applied. The caller then applies Evaluated with the verdict Refused (the verifier's advice) or
  /// NotJudged (the forecaster's) right after it.
  virtual bool refuses(const Advised& /*advised*/) const { return false; }
  /// How right the forecast of a candidate was; nullptr: it had none, or is not measured yet. Valid
  /// until the next event.
  virtual const ForecastScore* forecast_of(CandidateId /*candidate*/) const { return nullptr; }
  /// Number of calls that were decided so far.
  virtual std::size_t asks() const = 0;
  /// Settings::proposals, and what Granted has added.
  virtual std::size_t proposals() const = 0;
  /// In the order of operators and models.
  virtual std::vector<Earnings> earnings() const = 0;
  /// As earnings(), by mission: Earnings::op is its name, or empty for the calls without one. Empty
  /// as long as no call had a mission.
  virtual std::vector<Earnings> earnings_of_missions() const = 0;
  /// Why the search makes no more calls before proposals() is reached; empty: it goes on.
  virtual std::string why_done() const = 0;
  /// The best kernel is as good as the user asks (Enough), or near the bound: more calls would gain
  /// little.
  virtual bool has_enough() const = 0;
  /// A candidate waits for the call of a role, which no one has made room for yet.
  virtual bool is_held_up() const { return false; }
  /// In the order of Settings::roles; empty: the search has no roles.
  virtual std::vector<RoleStanding> roles() const { return {}; }
};

/// A direction that a call can be told to take (Policy::missions).
struct Mission {
  std::string name;      ///< as agents::missions() has it
  std::string limiter;   ///< it fits best where Outcome::cell names this one; empty: none
  bool for_seeds = true; ///< of a call with the operator "seed"; else of the other ones
  /// It fits best where no kernel has the structure that it asks for: Outcome::cell of one that has
  /// it says this. Empty: no cell tells.
  std::string mark = {};
};

struct Settings {
  std::string task;          ///< its name, for keys of calls
  std::size_t proposals = 6; ///< calls
  std::size_t lineages = 1;  ///< one-plus-one: the calls are divided among this many lineages
  int evaluator_version = 0; ///< outcomes of other versions do not count
  /// The task has a kernel to beat, which is judged before any call. Without one the calls begin at
  /// once, and speedups are against PyTorch eager.
  bool has_baseline = true;
  std::vector<Mission> missions = {};
  /// The names of the models that calls may ask. Empty or one: there is no choice.
  std::vector<std::string> models = {};
  /// Strategies with an archive: first calls that ask for kernels of different structure.
  std::size_t seeds = 3;
  /// Stops when the best kernel has this share of the speed of light at every search shape; 0:
  /// never.
  double enough_speed_of_light = 0;
  // For strategies that keep an archive:
  std::size_t patience = 0; ///< stops after so many calls without a gain of 2 %; 0: never
  /// Stops when the gain that the next call promises is worth less than the call's price. A kernel
  /// twice as fast is worth so many dollars; 0: never stops.
  double value_of_doubling = 0;
  /// The tuning of a candidate begins no further rung after so many seconds of the device; 0: no
  /// limit.
  double tuning_seconds = 0;
  /// Lots follow from this number: those that strategies draw (base/draws.h), and which rejected
  /// candidates run all the same (counsel.h).
  std::uint64_t seed = 1;
  // For roles (search/role.h):
  std::vector<std::string> roles = {}; ///< names of role_names(); each at most once
  /// By role: the model (Ask::model) that its calls ask. A role without an entry asks the
  /// model of the kernel's call.
  std::map<std::string, std::string> role_models = {};
};

const std::vector<std::string>& strategy_names();
/// Throws UsageError (with the nearest match) for an unknown strategy.
std::unique_ptr<Search> make_search(std::string_view strategy, Settings settings);

} // namespace winnow::search
