#pragma once

#include "base/fields.h"
#include "store/run_store.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::store {

/// A search of somebody else, which a client of `winnow serve --judge` has declared.
struct DeclaredRun {
  RowId run_id = 0;
  std::string owner; ///< of the token
  std::string name;  ///< as its owner calls it
  RunRow row = {};   ///< set when read
};

/// A call of such a run, as its loop states it, with the kernel that came of it.
struct DeclaredReply {
  RowId run = 0, task = 0;
  std::string key; ///< of the call
  std::string model = {};
  std::string reply = {};  ///< the whole reply; empty: the loop sent the kernel file alone
  std::string kernel = {}; ///< the kernel file, or the reply if it has none
  std::vector<RowId> parents = {};
  tasks::Usage usage = {}; ///< zeros: not stated
  std::optional<double> dollars = std::nullopt;
};

/// What a declared run has come to. Tokens and dollars are as its loop states them.
struct DeclaredTask {
  std::string task = {};
  std::int64_t calls = 0, unjudged = 0, correct = 0;
  RowId best = 0;            ///< the fastest correct candidate; 0: there is none
  std::string call_key = {}; ///< of the best one
  double speedup = 0;        ///< 0: not timed
};
WINNOW_FIELDS(DeclaredTask, task, calls, unjudged, correct, best, call_key, speedup)

/// What a row of `declared_runs`, and one of `declared_calls` with its evaluation, take, about.
constexpr std::uint64_t kBytesOfDeclared = 16'384;

/// The runs that the clients of one server have declared. Each is a row of `runs` with calls and
/// candidates as a search of Winnow's own has them, so that all that reads runs reads these, too.
/// Every function is one transaction, as those of RunStore are.
class DeclaredRuns {
public:
  /// `server_run`: of the server that judges for them.
  DeclaredRuns(RunStore& store, RowId server_run) : store_(store), server_run_(server_run) {}

  /// Throws UsageError if `stored_name` is taken.
  RowId add(const DeclaredRun& run, const std::string& stored_name, const nlohmann::json& config);
  /// The owner's run of this name.
  std::optional<DeclaredRun> find(const std::string& owner, const std::string& name) const;
  /// The run that the store has under this name, whoever owns it.
  std::optional<DeclaredRun> find_stored(const std::string& stored_name) const;
  std::int64_t count(const std::string& owner) const;

  /// The candidate of the call, if the store has it. Throws UsageError if it had another kernel or
  /// task.
  std::optional<RowId> find_reply(const DeclaredReply& reply) const;
  /// Adds a call that the store does not have, with its candidate, and returns the candidate.
  RowId add_reply(const DeclaredReply& reply);
  std::int64_t calls_of_task(RowId run, const std::string& task) const;
  std::int64_t next_call(RowId run) const; ///< 1 + the highest call number; 1: there is none
  bool has_job(RowId candidate) const;
  /// Lets the evaluation of this job count for the candidate of a call, as soon as there is one. A
  /// candidate that has its evaluation keeps it.
  void link(RowId candidate, const std::string& job);
  /// The job has an evaluation: all candidates that wait for it get it.
  void take_over(const std::string& job);

  /// Candidates of this task: of a call of the run; of a job of the owner; of a number. nullopt:
  /// the owner has none. An empty owner stands for all owners.
  std::optional<RowId> of_call(RowId run, const std::string& task, const std::string& key) const;
  std::optional<RowId> of_job(RowId run, const std::string& task, const std::string& job,
                              const std::string& owner) const;
  std::optional<RowId> of_number(RowId number, const std::string& task,
                                 const std::string& owner) const;

  std::vector<DeclaredTask> tasks(RowId run) const; ///< those that have calls, by name
  /// By owner: about how many bytes the runs take, beside the jobs that judge for them.
  std::map<std::string, std::uint64_t> stored_bytes() const;

private:
  std::optional<RowId> candidate_where(const std::string& condition, const std::string& task,
                                       const std::string& owner, const std::string& value,
                                       RowId run) const;

  RunStore& store_;
  RowId server_run_;
};

} // namespace winnow::store
