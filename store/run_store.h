#pragma once

#include "base/error.h"
#include "base/fields.h"
#include "store/baselines.h"
#include "store/database.h"
#include "store/gpu_spread.h"
#include "store/held_out.h"
#include "store/sittings.h"
#include "tasks/result/evaluation.h"
#include "tasks/result/model_answer.h"
#include "tasks/task/speedup_versus.h"
#include "tasks/task/task.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
  std::string started_at, finished_at; ///< finished_at: empty during the run
};
WINNOW_FIELDS(RunRow, id, name, status, config, started_at, finished_at)

struct EventRow {
  std::string kind;
  std::string detail; ///< JSON
  std::string created_at;
};
WINNOW_FIELDS(EventRow, kind, detail, created_at)

/// One recorded model call, for every kind of endpoint. Replay files have the same form.
struct ModelCallRow : tasks::ModelAnswer {
  RowId id = 0;
  std::string key; ///< identifies the call within its run: "row_softmax/0/3" (task, chain, step)
  std::string endpoint; ///< "replay", "openai"
  std::string request;  ///< JSON: the request as sent, without keys
  std::string status;   ///< "ok", "failed"
  std::string error;
  std::string price; ///< JSON: the prices used for `dollars`; empty: none
  std::string started_at;
  std::string request_digest; ///< equal for identical requests; set when read
};

/// The budget reserved for a call whose cost is not known yet.
struct CallReservation {
  std::int64_t tokens = 0;
  double dollars = 0;
};

/// The estimated cost of requests of a call that the provider did not count.
struct LostCost {
  std::int64_t sendings = 0;
  std::int64_t tokens = 0;
  double dollars = 0;
};

/// The costs of a run's calls. `unconfirmed_*`: calls without an answer, which may have been
/// billed.
struct RunCosts {
  std::int64_t calls = 0;
  std::int64_t calls_from_record = 0; ///< part of `calls`: answered from a record, free
  std::int64_t prompt_tokens = 0, completion_tokens = 0;
  std::optional<double> dollars; ///< of the calls with a known price; nullopt: there are none
  std::int64_t calls_without_price = 0;
  std::int64_t unconfirmed_sendings = 0, unconfirmed_tokens = 0;
  double unconfirmed_dollars = 0;
};
WINNOW_FIELDS(RunCosts, calls, calls_from_record, prompt_tokens, completion_tokens, dollars,
              calls_without_price, unconfirmed_sendings, unconfirmed_tokens, unconfirmed_dollars)

struct CandidateRow {
  RowId id = 0;
  std::string task;
  std::string call_key;                  ///< empty for baselines
  RowId parent_id = 0;                   ///< 0: none
  std::vector<RowId> other_parents = {}; ///< after parent_id; not set when read
  std::string origin;                    ///< "baseline", "model", "person"
  std::string text;   ///< the kernel file, or the whole reply if it contains no kernel file
  std::string digest; ///< sha256 of text
  std::string created_at;
  std::string model;             ///< of its call; set when read
  std::string author;            ///< author.h; set when read
  std::optional<double> dollars; ///< cost of its call; nullopt: unknown or no call; set when read
  /// tasks::speedup_versus() of the task; set when read.
  std::string speedup_versus = std::string(tasks::kVersusBaseline);
};
WINNOW_FIELDS(CandidateRow, id, task, call_key, parent_id, other_parents, origin, text, digest,
              created_at, model, author, dollars, speedup_versus)

/// A finished or pending candidate with the evaluation that counts. In insertion order.
struct CandidateState {
  CandidateRow row;
  std::optional<tasks::Evaluation> best; ///< nullopt: not evaluated yet
  std::string reply; ///< the whole reply; empty: not from a model. Only candidate_state() sets it
};

/// What a device reached with Winnow's own kernels.
struct StoredCeilings {
  std::string device_name, uuid, driver; ///< uuid: empty if the device has none
  std::string content;                   ///< JSON, see profiling/roofline/ceilings.h
  std::string measured_at;
};
WINNOW_FIELDS(StoredCeilings, device_name, uuid, driver, content, measured_at)

/// One event of a search (search/event.h).
struct SearchLogRow {
  std::int64_t seq = 0; ///< from 1, within the run and task
  std::string kind;
  std::string detail; ///< JSON
  std::string created_at;
};
WINNOW_FIELDS(SearchLogRow, seq, kind, detail, created_at)

/// What a role's reply says.
struct AdviceRow {
  std::string key;     ///< of the call
  std::string role;    ///< "judge"
  RowId candidate = 0; ///< the kernel that the advice is about; 0: about none
  std::string content; ///< JSON (agents/roles/role_reply.h); empty: the reply was of no use
  std::string problem; ///< why it was of no use; empty: it was
};
WINNOW_FIELDS(AdviceRow, key, role, candidate, content, problem)

/// A prediction of a role beside what was measured. docs/store.md has the units.
struct AdviceScore {
  RowId candidate = 0; ///< that was measured
  std::string name;
  double predicted = 0, actual = 0;
  bool is_right = false;
};
WINNOW_FIELDS(AdviceScore, candidate, name, predicted, actual, is_right)

/// A forecast of a candidate's speed beside what was measured. docs/store.md has the units.
struct ForecastRow {
  double ratio = 0, score = 0, model_free = 0, chance = 0;
  bool is_audit = false, beats_best = false;
};
WINNOW_FIELDS(ForecastRow, ratio, score, model_free, chance, is_audit, beats_best)

struct LeaderboardRow {
  std::string task, device, device_name;
  std::int64_t rank = 0; ///< 0: not ranked
  std::string unranked;  ///< why there is no rank: "its seed was given", "not in the final", ...
  /// Why the numbers do not come from the board's newest sitting: "not in the final", or as
  /// `unranked`. Empty if they do.
  std::string flag;
  bool comparable = true; ///< a final may rank it
  RowId candidate_id = 0, evaluation_id = 0, run_id = 0;
  std::string run, origin, model, author;
  std::string parameters; ///< a JSON object: {"BLOCK":128}
  /// The fastest library or framework that is timed on this device and whose answers are right,
  /// and this kernel's speed beside it; empty and 0: none is timed.
  std::string best_alternative;
  double versus_best = 0;
  tasks::Bounds versus_best_bounds; ///< 95 %, from both intervals; the sessions differ
  double of_light = 0; ///< least share of the speed of light at a search shape; 0: not known
  double speedup = 0;  ///< against `speedup_versus`, geometric mean over the search shapes
  std::string speedup_versus = std::string(tasks::kVersusBaseline); ///< tasks::speedup_versus()
  /// 95 % interval. From a final: contains the speedup of another final. Otherwise: as measured,
  /// but widened by the variation of the baseline between evaluations if a final has measured it.
  tasks::Bounds speedup_bounds;
  /// As `speedup`, over the held-out shapes of the final whose speed counts; 0: there is none.
  double held_out_speedup = 0;
  std::string held_out_note; ///< of a kernel in the final: why held_out_speedup is 0; else empty
  std::vector<HeldOutShape> held_out; ///< in the final
  std::string fitted;                 ///< tasks::kFitted; empty: it is not shown to be
  bool tied = false;                  ///< another kernel of the group has the same rank
  double score_ns = 0;
  std::vector<std::string> shapes; ///< the search shapes behind the means speedup and score_ns
  std::string isolation, digest, evaluated_at;
  std::string kernel;                  ///< tasks::kernel_digest()
  std::string task_digest;             ///< revisions of a task have separate boards
  std::string task_note, task_proof;   ///< TaskNotes
  std::vector<std::string> task_flags; ///< tasks::TaskSource::flags
  std::int64_t lines = 0, evaluator_version = 0;
  std::vector<tasks::Finding> findings; ///< in the machine code
  std::optional<double> dollars; ///< cost of the reply; nullopt: unknown, or not from a model
};
// In the order of CSV.
WINNOW_FIELDS(LeaderboardRow, task, device, device_name, rank, tied, unranked, speedup,
              speedup_bounds, score_ns, candidate_id, evaluation_id, run_id, run, origin, model,
              parameters, isolation, evaluated_at, lines, digest, task_digest, evaluator_version,
              speedup_versus, shapes, findings, dollars, held_out_speedup, flag, task_flags, author,
              task_note, task_proof, kernel, comparable, versus_best, versus_best_bounds,
              best_alternative, of_light, held_out_note, fitted, held_out)

struct LeaderboardQuery {
  std::string task;      ///< empty: all
  std::string device;    ///< empty: all
  std::string run;       ///< name; empty: all
  std::int64_t top = 10; ///< ranked rows per task and device, plus as many unranked; 0: all
};

struct CandidateRecord; // store/candidate_record.h

struct VerdictCount {
  std::string run, task, device; ///< device: empty before the evaluation
  std::string verdict;
  std::int64_t candidates = 0;
};
WINNOW_FIELDS(VerdictCount, run, task, device, verdict, candidates)

/// The SQLite file with all data of Winnow: WAL, versioned schema, foreign keys. Every method is
/// one transaction, which is durable when the method returns, except within transaction(). Safe for
/// several threads. Throws Error with the file and the remedy if the file is locked, read-only, no
/// database or of a newer version, or if the disk is full.
class RunStore {
public:
  using Mode = OpenMode;
  /// ReadWrite creates the file and its directories. Both modes bring an older schema up to date.
  RunStore(const std::filesystem::path& path, Mode mode, const OpenOptions& options = {});
  ~RunStore();
  RunStore(const RunStore&) = delete; // owns the descriptors of the lock files
  RunStore& operator=(const RunStore&) = delete;

  /// Makes one transaction of all methods that `work` calls on this store. If `work` throws,
  /// nothing of it is stored.
  void transaction(const std::function<void()>& work);
  /// Calls `hook` after every write, also within a transaction. Tests let it throw, to stop a run
  /// at that point.
  void after_each_write(std::function<void()> hook);
  /// Lets `work` query the file. All that it reads here and through this store is one snapshot.
  template <typename Work> auto read(const Work& work) const {
    return database_.read([&] { return work(std::as_const(database_)); });
  }

  /// From now on every query of this store, which is open for reading, sees only what this owner
  /// has sent to a server. Sees what came later after the next call.
  void show_only(const std::string& owner);

  // ---- runs and events ----
  /// Throws UsageError if the name is taken.
  RowId create_run(std::string_view name, const nlohmann::json& config,
                   const nlohmann::json& environment);
  std::optional<RunRow> find_run(std::string_view name_or_id) const;
  std::vector<RunRow> runs() const;
  void set_run_status(RowId run, std::string_view status);
  void add_event(RowId run, std::string_view kind, const nlohmann::json& detail);
  std::vector<EventRow> events(RowId run) const; ///< oldest first
  /// True if this process gets the lock on the run. Only one process may drive a run. The lock is a
  /// lock file beside the store; it is released at the end of the process, also after a crash.
  bool lock_run(RowId run);

  // ---- tasks, prompts, calls ----
  RowId add_task(const tasks::Task& task); ///< once per digest
  /// Call this before sending a request; stores the prompts and the intent. Returns the call's row.
  /// Idempotent per (run, key): a call without a reply keeps its row and gets the new request; a
  /// call with a reply does not change. `reserved` is the highest possible cost, which counts as
  /// unconfirmed until the reply is stored. nullopt: the call is free until then.
  RowId begin_call(RowId run, RowId task, std::string_view key, std::string_view endpoint,
                   std::string_view model, nlohmann::json request,
                   const std::optional<CallReservation>& reserved = std::nullopt);
  /// Sets the presumed cost of a call that has no reply yet; nullopt: it was free.
  void add_lost(RowId call, const LostCost& lost); ///< adds to the sums of the call
  /// Adds what the provider counted for a sending that gave no reply. The tokens and dollars of the
  /// call include it from now on, also when a later sending is answered.
  void add_counted(RowId call, const tasks::Usage& usage, std::optional<double> dollars);
  void set_reservation(RowId call, const std::optional<CallReservation>& reserved);
  /// Records that another model than the requested one answers a call without a reply. The
  /// candidate of the call then belongs to that model.
  void credit_call(RowId call, std::string_view model);
  /// Call this directly after a reply arrives, before using it. Only the first outcome of a call is
  /// kept.
  void finish_call(RowId call, const ModelCallRow& outcome);
  /// The calls of the run that have a reply or failed for good, oldest first.
  std::vector<ModelCallRow> finished_calls(RowId run) const;
  /// The calls of the run without a reply, oldest first.
  std::vector<ModelCallRow> pending_calls(RowId run) const;
  /// A paid reply of another run to an identical request; nullopt: none left. The first such
  /// request of a run gets the oldest reply, the second request the next one, so that two samples
  /// remain independent.
  std::optional<ModelCallRow> find_reply(RowId call) const;
  RunCosts run_costs(RowId run) const;

  // ---- candidates and evaluations ----
  /// Idempotent per (run, task, call_key). With an empty call_key (baseline, person): per text.
  RowId add_candidate(RowId run, RowId task, const CandidateRow& candidate);
  // Evaluations are stored with builds, cases and raw samples. `request`: the id of the request
  // that asked for them; empty: none. A request whose evaluations the store has adds nothing.
  /// The first one counts. Does nothing if the candidate already has evaluations.
  void add_evaluations(RowId candidate, const std::vector<tasks::Evaluation>& evaluations,
                       std::string_view request = {});
  /// Adds evaluations of other choices of parameters, which do not count. `turns`: of a heat, which
  /// times the choices in so many turns; 0: they were evaluated in full.
  void add_trials(RowId candidate, const std::vector<tasks::Evaluation>& trials,
                  std::string_view request, int turns);
  /// Makes this evaluation the one that counts for the candidate. The previous one stays as
  /// evidence and refers to its successor.
  void supersede_evaluation(RowId candidate, const tasks::Evaluation& evaluation,
                            std::string_view request = {});
  /// Adds an evaluation that the command `asked_by` was asked for, without its race. It counts only
  /// if the candidate has no other.
  void add_measurement(RowId candidate, tasks::Evaluation evaluation, std::string_view asked_by);
  /// Gives a candidate that has no evaluations those of another one with the same kernel file.
  void copy_evaluations(RowId from, RowId to);
  /// The candidate of this task with this kernel file: `preferred`, or else the first one.
  std::optional<RowId> candidate_with_file(RowId task, std::string_view digest,
                                           RowId preferred) const;
  /// The evaluations of this candidate beside those of heats and those that a command was asked
  /// for, oldest first.
  std::vector<tasks::Evaluation> evaluations_in_full(RowId candidate) const;
  /// The evaluations of the heats of this candidate, oldest first.
  std::vector<tasks::Evaluation> trials(RowId candidate) const;
  std::vector<CandidateState> candidates(RowId run) const;
  /// Whether a candidate of the run has the kernel file with this digest.
  bool has_file(RowId run, RowId task, std::string_view digest) const;
  /// Throws UsageError if the candidate does not exist.
  CandidateState candidate_state(RowId id) const;

  // ---- devices ----
  /// Stores the measured ceilings of a device (JSON) once for each measurement.
  void add_ceilings(const StoredCeilings& ceilings);
  std::vector<StoredCeilings> ceilings() const; ///< oldest first
  /// Stores the race of an evaluation that belongs to no candidate. No board rests on it.
  void add_race(RowId task, const std::string& kernel, const tasks::Evaluation& evaluation);

  // ---- searches ----
  void append_search_log(RowId run, RowId task, std::string_view kind, std::string_view detail);
  std::vector<SearchLogRow> search_log(RowId run, RowId task) const; ///< oldest first

  // ---- roles (store/advice.h has what reports read) ----
  // What the store has already stays as it is.
  void add_advice(RowId run, const AdviceRow& advice); ///< throws Error for an unknown call
  /// `key`: of the call that made the predictions.
  void add_advice_scores(RowId run, std::string_view key, const std::vector<AdviceScore>& scores);
  /// `key`: of the forecaster's call.
  void add_forecast_score(RowId run, std::string_view key, const ForecastRow& score);
  void add_prompt_arm(RowId candidate, std::string_view variant, bool memory, bool exemplar,
                      double gain);
  std::optional<AdviceRow> find_advice(RowId run, std::string_view key) const;
  /// The newest advice of the role about the candidate.
  std::optional<AdviceRow> advice_about(RowId candidate, std::string_view role) const;

  // ---- final sittings ----
  /// Stores a final. It orders the board over all runs and, if `run` is given, the board of that
  /// run.
  void add_sitting(std::optional<RowId> run, RowId task, const tasks::SittingResult& result);
  std::vector<StoredSitting> sittings() const; ///< oldest first
  /// The kernels to be timed in a final, for the board over all runs and the board of `run`. Takes
  /// the first `top` rows (0: all) of each board, both by the last final and by measured speedup.
  /// Adds every kernel whose newest race against one of these was a tie or undecided. Excludes a
  /// kernel that lost its place in a final or takes ten times the baseline's time. Each row is from
  /// one of the two boards.
  std::vector<LeaderboardRow> finalists(const tasks::Task& task, const std::string& device_name,
                                        std::int64_t evaluator_version, std::int64_t top,
                                        std::optional<RowId> run) const;
  /// Standard deviation of the logarithm of the baseline's time between evaluations, a measure of
  /// how much the machine varies. 0: not known.
  double baseline_spread(RowId task, const std::string& device_name,
                         std::int64_t evaluator_version) const;

  // ---- libraries and frameworks beside the task's baseline ----
  /// Stores all rows of one measurement at once.
  void add_baseline_timings(RowId task, const std::vector<BaselineTiming>& timings);
  /// The newest timing of each name and shape, over all revisions of the task. Ordered by name,
  /// then by time of measurement. An empty device_name selects every device.
  std::vector<BaselineTiming> baseline_timings(const std::string& task,
                                               const std::string& device_name) const;
  /// Compares the stored timings for the groups of these rows with baseline.cu, or with PyTorch
  /// eager if the task has none. `rows` come from leaderboard(). The times of baseline.cu are those
  /// of each group's first row.
  std::vector<BaselineStanding> baseline_standings(const std::vector<LeaderboardRow>& rows) const;
  /// How much GPUs of one model differ, for each board of these rows whose baseline was timed on
  /// two GPUs or more. `rows` come from leaderboard().
  std::vector<GpuSpread> gpu_spreads(const std::vector<LeaderboardRow>& rows) const;

  // ---- reading ----
  /// Ordered by task, device and rank; rows without a rank come last. Throws UsageError for an
  /// unknown run.
  std::vector<LeaderboardRow> leaderboard(const LeaderboardQuery& query) const;
  /// Throws UsageError for an unknown run, task or device; the message lists the known ones.
  void require_known(const LeaderboardQuery& query) const;
  /// Why leaderboard() is empty: "no correct kernel yet", or the reason why correct kernels have no
  /// rank.
  std::string why_nobody_is_ranked(const LeaderboardQuery& query) const;
  /// The number of candidates per verdict. Ignores `top`.
  std::vector<VerdictCount> verdict_counts(const LeaderboardQuery& query) const;
  /// The candidate with its kernel file. Throws UsageError if it does not exist.
  CandidateRow candidate(RowId id) const;
  /// The candidate with this number or, if there is none, the candidate whose file's digest begins
  /// with `name`, which then has at least 4 hex digits. A leading @ is allowed. Of several
  /// candidates with one file: the first one of `task` (empty: of any task), correct ones before
  /// others. Throws UsageError with the nearest number or digest, or with all digests that begin
  /// so.
  RowId candidate_named(std::string_view name, const std::string& task = {}) const;
  /// The candidate that candidate_named() finds. Throws UsageError if it is a kernel of another
  /// task.
  CandidateState candidate_of_task(std::string_view name, const std::string& task) const;
  /// Throws UsageError if the candidate does not exist.
  CandidateRecord candidate_record(RowId id) const;

private:
  mutable Database database_;
  std::mutex locks_mutex_;
  std::map<RowId, int> locks_; ///< open descriptors of held run locks
};

/// The id of the run. Throws UsageError with the nearest names. Call inside a transaction.
RowId require_run(const Database& database, const std::string& name);
/// Names the nearest number. Call inside a transaction.
UsageError no_candidate(const Database& database, RowId id);

} // namespace winnow::store
