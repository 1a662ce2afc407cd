#pragma once

#include "harness/serve/access.h"
#include "harness/serve/declared_call.h"
#include "store/declared_runs.h"
#include "tasks/task/task.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace winnow::harness {

struct JudgeServiceSetup;

/// A reply that is to be judged, with what its loop says about it.
struct StatedReply {
  const DeclaredCall& call;
  const tasks::Task& task;
  const std::string &owner, &sees; ///< Client::sees()
  const std::string& kernel;       ///< the kernel file, or the reply if it has none
  const std::string& reply;        ///< the whole reply; empty: the loop sent the kernel file alone
};

/// The runs that loops of other people declare, so that tables and pages count them beside
/// Winnow's own searches.
class LoopRuns {
public:
  explicit LoopRuns(const JudgeServiceSetup& setup);

  /// Declares a run, or finds the one that was declared so. `take_room`: is called with the bytes
  /// that a new run takes, and may throw. Throws UsageError.
  nlohmann::json declare(const Client& client, const RunDeclaration& run,
                         const std::function<void(std::uint64_t)>& take_room);
  std::optional<nlohmann::json> show(const Client& client, const std::string& name) const;
  std::optional<nlohmann::json> end(const Client& client, const std::string& name);

  /// A run as the calls of one request find it.
  struct Known {
    store::DeclaredRun run;
    nlohmann::json config;
    std::map<std::string, std::int64_t> calls; ///< by task, of independent samples
  };
  using KnownRuns = std::map<std::string, Known>; ///< of one owner, by name
  /// Adds the call and returns its candidate; call it within the transaction that stores the item.
  /// `task`: its row. `known`: those of this transaction. Throws UsageError for a call that the run
  /// may not have.
  store::RowId add(const StatedReply& stated, store::RowId task, KnownRuns& known);
  bool has_job(store::RowId candidate) const { return runs_.has_job(candidate); }
  /// store::DeclaredRuns::link().
  void link(store::RowId candidate, const std::string& job) { runs_.link(candidate, job); }
  /// The job has an evaluation: the candidates of all calls with its kernel get it.
  void take_over(const std::string& job) { runs_.take_over(job); }
  std::map<std::string, std::uint64_t> stored_bytes() const { return runs_.stored_bytes(); }

private:
  nlohmann::json document(const store::DeclaredRun& run) const;
  Known& known_run(const StatedReply& stated, KnownRuns& known) const;
  void check(const StatedReply& stated, Known& known) const;
  std::vector<store::RowId> parents_of(const StatedReply& stated, store::RowId run) const;

  const JudgeServiceSetup& setup_;
  store::DeclaredRuns runs_;
};

} // namespace winnow::harness
