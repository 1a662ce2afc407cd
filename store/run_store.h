#pragma once

#include "store/baselines.h"
#include "store/open_options.h"
#include "store/sittings.h"
#include "tasks/result/evaluation.h"
#include "tasks/task.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::store {

using RowId = std::int64_t;

struct RunRow {
  RowId id = 0;
  std::string name;
  /// "running", "finished", "interrupted", "stopped by budget", "waiting for replies", "failed"
  std::string status;
  std::string config;                  ///< the resolved configuration, JSON, without secrets
  std::string started_at, finished_at; ///< finished_at: empty while it runs
};

struct EventRow {
  std::string kind;
  std::string detail; ///< JSON
  std::string created_at;
};

/// One model call as recorded, whatever the endpoint; also the form of replay files.
struct ModelCallRow {
  RowId id = 0;
  std::string key;      ///< names the call within its run: "row_softmax/0/3" (task, chain, step)
  std::string endpoint; ///< "replay", "openai"
  std::string model;
  std::string request; ///< JSON: what was sent, without keys
  std::string reply;   ///< the text the model answered
  std::string status;  ///< "ok", "failed"
  std::string error;
  std::string finish_reason;
  std::int64_t prompt_tokens = 0, cached_tokens = 0, completion_tokens = 0, reasoning_tokens = 0;
  std::int64_t cache_write_tokens = 0;
  std::optional<double> dollars; ///< nullopt: price unknown
  std::string price;             ///< JSON: what dollars was computed with; empty: nothing
  double seconds = 0;
  std::optional<double> first_token_seconds;
  std::string request_id; ///< the provider's
  std::int64_t attempts = 1;
  bool repaired = false;
  std::optional<RowId> served_from; ///< the call whose recorded reply this is: nothing was paid
  std::string started_at;
  std::string request_digest; ///< equal for identical requests; filled in when read
};

/// What is held back for a call while nobody knows what it costs.
struct CallReservation {
  std::int64_t tokens = 0;
  double dollars = 0;
};

/// What the calls of a run cost. `unconfirmed_*`: sent and never answered, so perhaps billed.
struct RunCosts {
  std::int64_t calls = 0;
  std::int64_t calls_from_record = 0; ///< of calls: nothing was paid for them
  std::int64_t prompt_tokens = 0, completion_tokens = 0;
  std::optional<double> dollars; ///< of the calls whose price is known; nullopt: of none
  std::int64_t calls_without_price = 0;
  std::int64_t unconfirmed_sendings = 0, unconfirmed_tokens = 0;
  double unconfirmed_dollars = 0;
};

struct CandidateRow {
  RowId id = 0;
  std::string task;
  std::string call_key; ///< empty for baselines
  RowId parent_id = 0;  ///< 0: none
  std::string origin;   ///< "baseline", "model", "person"
  std::string text;     ///< the kernel file, or the whole reply when none could be taken from it
  std::string digest;   ///< sha256 of text
  std::string created_at;
  std::string model;             ///< of its call; filled in when read
  std::optional<double> dollars; ///< that its call cost; nullopt: unknown, or no call; as model
};

/// A finished or pending candidate with the verdict that counts, in insertion order.
struct CandidateState {
  CandidateRow row;
  std::optional<tasks::Evaluation> best; ///< nullopt: not evaluated yet
};

struct LeaderboardRow {
  std::string task, device, device_name;
  std::int64_t rank = 0; ///< 0: not ranked
  std::string unranked;  ///< why not: "its seed was given", "not in the final", ...
  /// Why its numbers are not those of the board's newest sitting: "not in the final", or as
  /// `unranked`; empty: they are.
  std::string flag;
  bool comparable = true; ///< a final may rank it
  RowId candidate = 0, evaluation = 0, run = 0;
  std::string run_name, origin, model;
  std::string parameters; ///< a JSON object: {"BLOCK":128}
  double speedup = 0;     ///< against the task's baseline, geometric mean over the search shapes
  /// 95 % interval: of a final, it holds what another one finds; else as it was measured, wider by
  /// what the baseline moves between evaluations once a final has found that out.
  tasks::Bounds speedup_bounds;
  double held_out_speedup = 0; ///< on the held-out shapes in the final; 0: was not in it
  bool is_tied = false;        ///< another kernel of the group has the same rank
  double score_ns = 0;
  std::vector<std::string> shapes; ///< the search shapes that speedup and score_ns are means over
  std::string isolation, digest, evaluated_at;
  std::string kernel;      ///< tasks::kernel_digest()
  std::string task_digest; ///< revisions of a task are ranked apart
  std::int64_t lines = 0, evaluator_version = 0;
  std::vector<tasks::Finding> findings; ///< in the machine code
  std::optional<double> dollars; ///< that its reply cost; nullopt: unknown, or no model wrote it
};

struct LeaderboardQuery {
  std::string task;      ///< empty: all
  std::string device;    ///< empty: all
  std::string run;       ///< name; empty: all
  std::int64_t top = 10; ///< per task and device, and as many that are not ranked; 0: all
};

struct VerdictCount {
  std::string run, task, device; ///< device: empty for candidates that are not evaluated
  std::string verdict;
  std::int64_t candidates = 0;
};

/// The one SQLite file behind everything: WAL, versioned schema, foreign keys. Every method is one
/// transaction, durable when it returns; safe from several threads. Throws Error naming the file
/// and what to do when it is locked, read-only, from a newer version, not a database, or the disk
/// is full.
class RunStore {
public:
  using Mode = OpenMode;
  /// ReadWrite creates the file and its directories. Both bring an older schema up to date.
  RunStore(const std::filesystem::path& path, Mode mode, const OpenOptions& options = {});
  ~RunStore();
  RunStore(const RunStore&) = delete; // owns the connection
  RunStore& operator=(const RunStore&) = delete;

  // ---- runs and events ----
  /// Throws UsageError when the name is taken.
  RowId create_run(std::string_view name, const nlohmann::json& config,
                   const nlohmann::json& environment);
  std::optional<RunRow> find_run(std::string_view name_or_id) const;
  std::vector<RunRow> runs() const;
  void set_run_status(RowId run, std::string_view status);
  void add_event(RowId run, std::string_view kind, const nlohmann::json& detail);
  std::vector<EventRow> events(RowId run) const; ///< oldest first
  /// True for the one process that may drive the run; released at the end of the process, however
  /// it ends (a lock file beside the store).
  bool lock_run(RowId run);

  // ---- tasks, prompts, calls ----
  RowId add_task(const tasks::Task& task); ///< once per digest
  /// Before the call is sent: prompt and intent. Returns the call's row. Idempotent per (run, key):
  /// a call without a reply keeps its row and takes this request, one with a reply stays as it is.
  /// `reserved`: what it may cost at most, which counts as unconfirmed until a reply is here;
  /// nullopt: it costs nothing before then.
  RowId begin_call(RowId run, RowId task, std::string_view key, std::string_view endpoint,
                   std::string_view model, const nlohmann::json& request,
                   const std::optional<CallReservation>& reserved = std::nullopt);
  /// Of a call that stays open: what it did cost, as far as anyone knows; nullopt: nothing.
  void set_reservation(RowId call, const std::optional<CallReservation>& reserved);
  /// Another model than the one that was asked answers a call that has no reply yet: from now on
  /// its candidate is that model's.
  void credit_call(RowId call, std::string_view model);
  /// When the reply is here, before anything is made of it. The first outcome of a call stands.
  void finish_call(RowId call, const ModelCallRow& outcome);
  /// Calls of the run that have a reply (or failed for good), by key order of insertion.
  std::vector<ModelCallRow> finished_calls(RowId run) const;
  /// Calls of the run that were begun and have no reply, in the same order.
  std::vector<ModelCallRow> pending_calls(RowId run) const;
  /// A reply that another run paid for an identical request. The first such request of a run gets
  /// the oldest reply, the second the next one, so that two samples stay two; nullopt: none left.
  std::optional<ModelCallRow> find_reply(RowId call) const;
  RunCosts run_costs(RowId run) const;

  // ---- candidates and evaluations ----
  /// Idempotent per (run, task, call_key); with an empty call_key (baseline, person) per text.
  RowId add_candidate(RowId run, RowId task, const CandidateRow& candidate);
  /// All variants of one candidate at once, with builds, cases and raw samples: the first one
  /// counts. Does nothing when the candidate has evaluations already.
  void add_evaluations(RowId candidate, const std::vector<tasks::Evaluation>& evaluations);
  /// From now on this one counts for the candidate; the one before stays, as further evidence, and
  /// says what superseded it.
  void supersede_evaluation(RowId candidate, const tasks::Evaluation& evaluation);
  std::vector<CandidateState> candidates(RowId run) const;

  // ---- final sittings ----
  /// `run`: whose board it orders beside that over all runs; nullopt: that alone.
  void add_sitting(std::optional<RowId> run, RowId task, const tasks::SittingResult& result);
  std::vector<StoredSitting> sittings() const; ///< oldest first
  /// Who is to sit for the board over all runs, and for that of `run`: the first `top` of each (0:
  /// all), by the board and by what evaluations have measured, and whoever the newest race could
  /// not tell from one of them; nobody that has lost its place, or takes ten times the
  /// baseline's time. As rows of one board or the other.
  std::vector<LeaderboardRow> finalists(const tasks::Task& task, const std::string& device_name,
                                        std::int64_t evaluator_version, std::int64_t top,
                                        std::optional<RowId> run) const;
  /// Standard deviation of the logarithm of the baseline's time between evaluations: how much the
  /// machine changes. 0: not known.
  double baseline_spread(RowId task, const std::string& device_name,
                         std::int64_t evaluator_version) const;

  // ---- libraries and frameworks beside the task's baseline ----
  /// All rows of one measurement at once.
  void add_baseline_timings(RowId task, const std::vector<BaselineTiming>& timings);
  /// The newest of each name and shape, by name and in the order of measurement, over all revisions
  /// of the task. An empty device_name: of every device.
  std::vector<BaselineTiming> baseline_timings(const std::string& task,
                                               const std::string& device_name) const;
  /// What is stored for the groups of these rows (as leaderboard() gives them), beside the times of
  /// baseline.cu that were taken with each group's first row.
  std::vector<BaselineStanding> baseline_standings(const std::vector<LeaderboardRow>& rows) const;

  // ---- reading ----
  /// By task, device and rank; what is not ranked comes after what is. Throws UsageError for a run
  /// that does not exist.
  std::vector<LeaderboardRow> leaderboard(const LeaderboardQuery& query) const;
  /// Throws UsageError, with what there is, for a run, task or device that the store does not have.
  void require_known(const LeaderboardQuery& query) const;
  /// Why leaderboard() gives nothing: "no correct kernel yet", or what the correct ones lack.
  std::string why_nobody_is_ranked(const LeaderboardQuery& query) const;
  /// How many candidates got which verdict; `top` is not looked at.
  std::vector<VerdictCount> verdict_counts(const LeaderboardQuery& query) const;
  /// The candidate's kernel file as stored. Throws UsageError when there is none.
  CandidateRow candidate(RowId id) const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace winnow::store
