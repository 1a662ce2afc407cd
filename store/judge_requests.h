#pragma once

#include "base/fields.h"
#include "store/run_store.h"
#include "tasks/result/verdict.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::store {

/// A kernel that somebody asked to be judged.
struct JudgeJob {
  std::string job; ///< digest of all that the answer depends on
  RowId candidate = 0;
  std::string options;         ///< JSON
  bool has_evaluation = false; ///< one that counts; set by find_job()
  std::string owner = {};      ///< of the oldest item that waits; set by pending_jobs()
  int priority = 0;            ///< the highest of the items that wait; set by pending_jobs()
};

/// What a request says about all of its items.
struct JudgeBatchRow {
  std::string batch;
  int priority = 0;
  std::string metadata = {}; ///< JSON as the client sent it; empty: none
  /// Digest of what is asked, and the seed of its inputs; nullopt: each evaluation draws its own.
  std::string content = {};
  std::optional<std::int64_t> seed = std::nullopt;
};
WINNOW_FIELDS(JudgeBatchRow, batch, priority, metadata, content, seed)

/// One answer that a client waits for.
struct JudgeItemRow {
  std::string batch;
  std::int64_t position = 0; ///< in the request
  std::string item;          ///< the client's id
  std::string job;
  std::string owner;      ///< of the token
  std::string reward;     ///< name of the preset
  std::int64_t place = 0; ///< from 1, in the order of the answers; 0: not answered
  std::string fault = {}; ///< why the machine gave no answer: "infrastructure: ...", "cancelled"
  bool cached = false;    ///< the store had the evaluation when the item came
  // Set when read.
  RowId candidate = 0;
  /// Between the question and the answer, without the time in which the candidate was evaluated.
  double queued_seconds = 0;
};
WINNOW_FIELDS(JudgeItemRow, batch, position, item, job, owner, reward, place, fault, cached,
              candidate, queued_seconds)

/// A kernel that an owner has asked about, each once.
struct AskedKernel {
  RowId candidate = 0;
  std::string job, asked_at;
  tasks::Verdict verdict = tasks::Verdict::NotJudged; ///< NotJudged: it has no answer
  tasks::Stage stage = tasks::Stage::Parse;
  bool promoted = false;
  double speedup = 0, score_ns = 0; ///< 0: not timed
};
WINNOW_FIELDS(AskedKernel, candidate, job, asked_at, verdict, stage, promoted, speedup, score_ns)

/// What an owner has asked, in sums.
struct AskedSums {
  std::int64_t asked = 0;          ///< kernels, each once
  std::int64_t refused = 0;        ///< those of them that do not compile
  std::int64_t hidden_answers = 0; ///< evaluations that tell whether hidden shapes are passed
};

class Database;
/// What the sessions asked that answered this call of the run; none if no session did. Sessions of
/// a run are in the run NAME.sessions, and are called as the call is, with '-' for each '/', or so
/// with '.' and more behind.
std::vector<AskedKernel> asked_in_session(const Database& database, const std::string& run,
                                          const std::string& call_key);

struct JudgeBatchState {
  std::int64_t items = 0, answered = 0;
  std::int64_t last = 0;     ///< the highest JudgeItemRow::place
  std::string metadata = {}; ///< JudgeBatchRow::metadata
};

/// What a row of `judge_items` and the evaluation of its job take beside the text, about.
constexpr std::uint64_t kBytesOfJudgeItem = 16'384;
/// What each further evaluation of a job takes, about: those of other choices of its parameters.
constexpr std::uint64_t kBytesOfChoice = 512;

/// The tables `judge_jobs`, `judge_batches` and `judge_items` of a store. Every function is one
/// transaction, as those of RunStore are, except within RunStore::transaction().
class JudgeRequests {
public:
  explicit JudgeRequests(RunStore& store) : store_(store) {}

  void add_job(const JudgeJob& job); ///< does nothing for a job that the store has
  void add_batch(const JudgeBatchRow& batch);
  void add_item(const JudgeItemRow& item);
  /// Gives all items of the job that have no answer yet the next place in their batch. `fault`:
  /// empty if the candidate has an evaluation. `owner`: only this owner's items; empty: all.
  /// Returns their batches.
  std::vector<std::string> answer(const std::string& job, const std::string& fault,
                                  const std::string& owner = {});

  std::optional<JudgeJob> find_job(const std::string& job) const;
  /// The jobs of a server's run, and of the runs declared there, with items that wait, in the order
  /// in which they were asked. The priority is for the caller to heed.
  std::vector<JudgeJob> pending_jobs(RowId run) const;
  /// The seed of the first batch with this content. nullopt: there is none.
  std::optional<std::int64_t> seed_of(const std::string& content) const;
  bool is_waited_for(const std::string& job) const; ///< an item of the job has no answer
  /// By owner: about how many bytes the requests take, with texts, metadata and evaluations.
  std::map<std::string, std::uint64_t> stored_bytes() const;

  // An empty owner stands for all owners.
  /// A candidate by its number, or by 4 or more hex digits that begin its file's digest. It is a
  /// correct kernel of this task. nullopt: there is none.
  std::optional<RowId> correct_candidate(std::string_view name, const std::string& task,
                                         const std::string& owner) const;
  /// nullopt: the owner has no such batch.
  std::optional<JudgeBatchState> batch(const std::string& batch, const std::string& owner) const;
  /// The answered items after this place, in order, at most `limit`.
  std::vector<JudgeItemRow> answered(const std::string& batch, std::int64_t after,
                                     std::int64_t limit) const;
  /// The owner's newest item of this job. nullopt: there is none.
  std::optional<JudgeItemRow> item_of_job(const std::string& job, const std::string& owner) const;

  /// All that the owner has asked a server about, in the order of the questions. `run`: of the
  /// server; one of another run may have an owner of the same name.
  std::vector<AskedKernel> asked(RowId run, const std::string& owner) const;
  /// By owner. Reads the rows of all owners.
  std::map<std::string, AskedSums> asked_sums(RowId run) const;

private:
  RunStore& store_;
};

} // namespace winnow::store
