#pragma once

#include "search/search.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace winnow::search {

// A strategy is a policy and nothing else, so that two strategies differ only in what their
// policies say. All strategies share the size of a round, repairs, tuning and the told history
// (Policy). The rest belongs to one of two populations, and a policy has exactly one: lineages
// choose what the next call of a line of descent builds on, an archive chooses among all its
// kernels. A mechanism of the one cannot be written down for the other. docs/strategies.md says
// which mechanisms a strategy has.

/// Each call builds on the earlier ones of its lineage.
struct LineagePolicy {
  bool for_each_call = false; ///< a lineage for every call: each one stands alone
  /// The kernel that a call builds on.
  enum class Base {
    Fastest,             ///< of the lineage; or the latest attempt, while it is worth a repair
    FastestBesideLatest, ///< shows the latest attempt in full, even if it is slow or a failure
    FastestOfRound,      ///< of the last round; its failures in turn if no attempt was correct
    Newest               ///< the latest attempt, even if it is slower or broken
  };
  Base base = Base::Fastest;
  /// A search of one lineage whose first reply is not far from the bound begins with more first
  /// replies, until two in a row have gained nothing or a third of the calls is spent. A call that
  /// builds on the fastest kernel is told of the others ("insights").
  bool opening = false;
  bool tells_best = true; ///< the prompt tells of the fastest attempt
  // Operators, as agents::operator_names() has them:
  std::string first_op = "improve"; ///< of the first call; "seed" if there is no first kernel
  std::string op = "improve";
  std::string repair_op = "improve"; ///< of a call that builds on a failure

  bool operator==(const LineagePolicy&) const = default;
};

/// Each call builds on one of the kernels of an archive. Mechanisms that are not named are off.
struct ArchivePolicy {
  double repair_share = 0.2; ///< repairs are at most this share of all calls
  /// The archive is one pool of the fastest kernels, so many at most; 0: of all. nullopt: kernels
  /// of different structure (Outcome::cell) have a cell each.
  std::optional<std::size_t> pool = {};
  bool failures_own_cells = false; ///< until a correct kernel takes the cell
  /// Which kernel of the archive a call builds on.
  enum class Parents {
    Puct,    ///< the highest score of exploitation and exploration
    Fastest, ///< the fastest one
    Rank,    ///< drawn, with a chance that falls with the rank
    Softmax, ///< drawn, with a chance that grows exponentially with the fitness
    Bands    ///< two of different speed, for a contrast
  };
  Parents parents = Parents::Puct;
  double uniform_share = 0;         ///< share of the calls whose parent is any earlier kernel
  std::size_t calls_per_parent = 1; ///< in a round: so many calls build on one parent
  bool lineage_blocking = false;    ///< no two calls at once build on relatives
  bool refuses_regressed = false;   ///< no call builds on a kernel much slower than its parent
  bool seeds = false;               ///< the first calls ask for kernels of different structure
  struct Operator {
    std::string name;
    double weight = 0;
    bool operator==(const Operator&) const = default;
  };
  std::vector<Operator> operators = {}; ///< of calls that are no seed and no repair
  bool bandit = false;      ///< operators and models by their earnings, not by weight and in turn
  bool failures = false;    ///< prompts tell of ideas that made their parent slower
  std::size_t insights = 0; ///< a call of "insights" tells of so many other kernels

  bool operator==(const ArchivePolicy&) const = default;
};

struct Policy {
  /// So many calls begin with the same knowledge. The next round begins when all of them have
  /// results. 0: in a lineage each call waits for the one before; in an archive no call waits.
  std::size_t round = 0;
  bool repair = true;       ///< a call mends a failure that is worth it
  bool tuning = true;       ///< the parameters of a family of kernels are tuned
  std::size_t history = 20; ///< so many earlier attempts are told in a line each
  /// Calls that build on the same kernels at the same time, or show the same, get different
  /// missions.
  bool missions = true;
  std::variant<LineagePolicy, ArchivePolicy> population = {};

  bool is_archive() const { return std::holds_alternative<ArchivePolicy>(population); }
  bool operator==(const Policy&) const = default;
};

/// A policy that has a name: a strategy of Winnow's own, or a published loop.
struct Preset {
  std::string name;    ///< the word in a config: strategy = "archive"
  std::string summary; ///< one sentence
  std::string source;  ///< the paper; empty: Winnow's own
  Policy policy;
  std::vector<std::string> roles; ///< models that advise or filter; see docs/strategies.md
};

const std::vector<Preset>& presets();
/// Throws UsageError (with the nearest match) for an unknown name.
const Preset& preset(std::string_view name);

/// The policy with one of its mechanisms switched off.
struct Ablation {
  std::string without; ///< the mechanism: "repair"
  Policy policy;
};
/// One for each mechanism that the policy has.
std::vector<Ablation> ablations(const Policy& policy);

/// Throws UsageError for an unknown role, or a role named twice.
std::unique_ptr<Search> make_search(const Policy& policy, Settings settings);

} // namespace winnow::search
