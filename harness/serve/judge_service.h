#pragma once

#include "base/error.h"
#include "evaluators/evaluation/evaluations.h"
#include "harness/brief/brief.h"
#include "harness/serve/family_judgement.h"
#include "harness/serve/judge_queue.h"
#include "harness/serve/judge_record.h"
#include "harness/serve/judge_request.h"
#include "harness/serve/judge_result.h"
#include "harness/serve/loop_runs.h"
#include "harness/serve/reward.h"
#include "store/judge_requests.h"
#include "store/run_store.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// Of an author who may ask again and again, such as a session of an agent.
struct Allowance {
  /// Kernels that may be judged beyond their compile; ten times as many may be asked about.
  std::size_t evaluations = 0;
  std::uint64_t hidden_draw = 0; ///< Protocol::hidden_draw
};

/// The same for the same owner of the same run, also in a new process.
std::uint64_t hidden_draw_of(const std::string& run, const std::string& owner);

struct JudgeServiceSetup {
  store::RunStore& store;
  store::RowId run = 0; ///< keeps the kernels
  /// The task of this name. Throws UsageError if the server has none, Error if it is broken.
  std::function<std::shared_ptr<const tasks::Task>(const std::string&)> find_task = {};
  evaluators::EvaluationsFactory evaluations = {};
  evaluators::Protocol protocol = {}; ///< of depth `full`
  std::string device_kind = {}, device_name = {};
  std::size_t in_flight = 8; ///< evaluations that are asked for at the same time
  std::size_t queue = 4096;  ///< jobs that may wait
  std::size_t owners = 1;    ///< that send kernels; each may fill its share of the queue
  bool has_board = false;    ///< there is the token of a board beside theirs
  std::uint64_t owner_bytes = std::uint64_t{16} << 30U; ///< that one owner may store
  Rewards rewards = {};
  std::string reward = "kevin"; ///< for requests that name none
  /// The kernels of a request get the same inputs, and other requests get other inputs.
  bool seed_from_batch = false;
  /// What an owner may ask; nullopt: as much as it likes, at all hidden shapes.
  std::function<std::optional<Allowance>(const std::string& owner)> allowance = {};
  /// light_shares() of a correct kernel; empty: not known.
  std::function<LightShares(const tasks::Task&, const tasks::Evaluation&)> light = {};
  /// Lets the service's thread do the work. Any thread calls it.
  std::function<void(std::function<void()>)> post = {};
};

/// No more jobs fit into the queue.
struct QueueFull : Error {
  QueueFull(const std::string& what, int seconds) : Error(what), retry_after_s(seconds) {}
  int retry_after_s;
};

struct AcceptedItem {
  std::string id, job;
  std::string state; ///< "queued", "running", "done", "refused"
  std::string error; ///< why it is refused
};
struct AcceptedBatch {
  std::string batch;
  std::vector<AcceptedItem> items;
};

struct ServiceState {
  std::size_t queued = 0, running = 0;
  std::uint64_t answered = 0, faults = 0; ///< evaluations since the start
  double per_second = 0;                  ///< 0: not known
  std::string last_fault;                 ///< empty: the last evaluation was none
};

/// Judges kernels for clients. What was accepted is in the store, so that a new process goes on
/// where a killed one stopped. One thread calls it.
class JudgeService {
public:
  explicit JudgeService(JudgeServiceSetup setup);
  /// Begins to judge what the store has waiting. JudgeServiceSetup::post must work from now on.
  void start();
  ~JudgeService();
  JudgeService(const JudgeService&) = delete; // owns evaluations
  JudgeService& operator=(const JudgeService&) = delete;

  /// Called when a batch has a new answer.
  std::function<void(const std::string& batch)> on_answer;

  /// A request that is taken in piece by piece, so that it does not keep other owners waiting.
  struct Acceptance;
  /// Nothing is stored yet. `reads_all`: the rival may be any kernel of the store; otherwise it
  /// must be the owner's.
  std::shared_ptr<Acceptance> begin(const std::string& owner, JudgeRequest request,
                                    bool reads_all) const;
  /// Reads the next item, and more until this time. nullopt: there are still more. The batch is in
  /// the store when this returns it. An item whose answer is known is answered at once. An item
  /// with a problem is left out. Throws QueueFull; then nothing is stored. Answers of other owners
  /// are never known ones, so none can tell what others have sent.
  std::optional<AcceptedBatch> go_on(Acceptance& acceptance,
                                     std::chrono::steady_clock::time_point until);
  /// The owner's items of the job get the fault "cancelled". The evaluation ends if nobody else
  /// waits for it. False: the owner has no such job, or it is answered.
  bool cancel(const std::string& owner, const std::string& job);

  nlohmann::json result(const store::JudgeItemRow& item) const;
  /// What the owner of an item may see of its evaluation, as a message (judge_record.h). nullopt:
  /// it has none.
  std::optional<std::string> record(const store::JudgeItemRow& item) const;
  Account account(const std::string& owner) const;
  std::string state_of(const std::string& job) const; ///< "queued", "running"; "": neither
  /// JudgeQueue::positions(): of the owner's jobs that wait in the queue.
  std::map<std::string, std::size_t> positions(const std::string& owner) const {
    return queue_.positions(owner);
  }
  const store::JudgeRequests& requests() const { return requests_; }
  std::vector<store::AskedKernel> asked(const std::string& owner) const {
    return requests_.asked(setup_.run, owner);
  }
  /// LoopRuns::declare().
  nlohmann::json declare_run(const Client& client, const RunDeclaration& run);
  LoopRuns& runs() { return runs_; }
  ServiceState state() const;
  int seconds_for(std::size_t jobs) const { return rate_.seconds_for(jobs); }

private:
  struct Waiting {
    store::RowId candidate = 0;
    std::string owner;
    int priority = 0;
    std::string request;                     ///< id of its evaluation; empty: it waits in the queue
    bool is_cancelled = false;               ///< its evaluation ends soon, and does not count
    std::unique_ptr<FamilyJudgement> family; ///< nullptr: it waits in the queue
    std::int64_t evaluations = 0;            ///< that were asked for
  };
  struct Planned; // an item on its way into the store
  struct Named;   // a task that a request names

  const Named& named(const std::string& task, Acceptance& asked) const;
  Planned plan(JudgeItem& item, Acceptance& asked) const;
  void look_up(Planned& planned) const;
  AcceptedBatch accept(Acceptance& acceptance);
  /// The seed of the inputs of a request; nullopt: each evaluation draws its own.
  std::optional<std::uint64_t> seed_for(const JudgeRequest& request,
                                        const std::string& content) const;
  void require_room(const std::string& owner, const std::vector<Planned>& items) const;
  void require_storage(const std::string& owner, std::uint64_t bytes) const;
  void require_allowance(const std::string& owner, const std::vector<Planned>& items) const;
  using TaskRows = std::map<const tasks::Task*, store::RowId>; ///< those of a transaction
  store::RowId task_row(const Planned& planned, TaskRows& tasks);
  void store_job(const Planned& planned, store::RowId candidate);
  store::RowId store_candidate(const Planned& planned, store::RowId task);
  void store_item(const Planned& item, bool is_new_job, const Acceptance& asked, TaskRows& tasks,
                  LoopRuns::KnownRuns& runs);
  void store_batch(const std::vector<Planned>& items, const Acceptance& asked);
  void enqueue(const std::string& job, store::RowId candidate, const std::string& owner,
               int priority);
  static void count_new(const std::vector<Planned>& items, store::AskedSums& sums);
  std::vector<AcceptedItem> with_states(std::vector<Planned> items) const;
  void submit_next();
  void submit(const std::string& job);
  void submit_next_of(const std::string& job, Waiting& waiting);
  void take(const evaluators::EvaluationResult& result);
  void end(const std::string& job, const Waiting& waiting,
           const std::optional<std::string>& problem);
  void keep(const std::string& job, const Waiting& waiting);
  void fault(const std::string& job, const Waiting& waiting, const std::string& detail);
  void tell(const std::vector<std::string>& batches) const;
  LightShares light_of(const JobOptions& options, const tasks::Evaluation& evaluation) const;
  /// The candidate of JudgeRequest::race_against. Throws UsageError.
  store::RowId rival_of(const Acceptance& asked, const std::string& task) const;
  evaluators::EvaluationRequest evaluation_request(std::shared_ptr<const tasks::Task> task,
                                                   std::string text,
                                                   const JobOptions& options) const;

  JudgeServiceSetup setup_;
  store::JudgeRequests requests_;
  LoopRuns runs_;
  JudgeQueue queue_;
  std::map<std::string, Waiting> waiting_;     ///< by job: queued and running ones
  std::map<std::string, std::string> running_; ///< jobs by the id of their evaluation
  MeasuredRate rate_;
  std::map<std::string, std::uint64_t> stored_;   ///< bytes, by owner
  std::map<std::string, store::AskedSums> asked_; ///< by owner
  std::uint64_t answered_ = 0, faults_ = 0;
  std::string last_fault_;
  std::shared_ptr<bool> is_alive_ = std::make_shared<bool>(true);
  std::unique_ptr<evaluators::Evaluations> evaluations_; ///< last: its threads call the others
};

} // namespace winnow::harness
