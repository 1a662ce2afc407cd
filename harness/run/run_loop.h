#pragma once

#include "agents/prompts.h"
#include "harness/config/config.h"
#include "harness/judging/judge_pool.h"
#include "harness/run/budget.h"
#include "harness/run/event_queue.h"
#include "harness/run/journal.h"
#include "harness/run/progress.h"
#include "harness/run/strategy.h"

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace winnow::harness {

/// Everything that a run needs. All references must outlive the loop.
struct RunLoopSetup {
  const RunConfig& config;
  std::vector<tasks::Task> tasks;
  tasks::DeviceFacts facts;
  std::string device_kind;
  std::string device_name;
  Journal& journal;
  const Strategy& strategy;
  agents::ModelEndpoint& endpoint;
  std::function<std::vector<agents::Message>(const agents::ProposalContext&)> prompts;
  std::vector<JudgeFactory> judges; ///< one for each device
  decltype(JudgePoolSetup::compile_ahead) compile_ahead;
  unsigned compile_threads = 0;
  Progress& progress;
  std::optional<agents::Price> price = {};     ///< price of the endpoint's calls; nullopt: unknown
  bool is_finished = false;                    ///< an earlier session finished the run
  std::chrono::milliseconds elapsed_before{0}; ///< duration of the run's earlier sessions
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

struct RunOutcome {
  /// Waiting: only calls are left whose replies come in another way. RecordingSpent: only calls are
  /// left for which the recording has no reply.
  enum class End : std::uint8_t {
    Finished,
    BudgetSpent,
    Interrupted,
    Failed,
    Waiting,
    RecordingSpent
  };
  End end = End::Finished;
  bool was_finished = false; ///< an earlier session had finished the run: nothing was left to do
  std::string message;       ///< why the run stopped; empty if it finished
  Spend spend;
  std::chrono::milliseconds elapsed{0}; ///< includes earlier sessions
};

/// Asks, judges and records until the strategy makes no more proposals, a limit is reached or the
/// run is interrupted. One thread makes all decisions and writes to the store; replies and verdicts
/// reach this thread through a queue. A resumed run repeats the loop from the beginning and skips
/// calls and evaluations that the store already has.
class RunLoop {
public:
  explicit RunLoop(RunLoopSetup setup);
  ~RunLoop();
  RunLoop(const RunLoop&) = delete; // callbacks point into this object
  RunLoop& operator=(const RunLoop&) = delete;

  /// Throws Error if the store cannot be written.
  RunOutcome run();
  /// Any thread may call this. Stops sending, cancels calls in flight and keeps every reply that
  /// was paid for.
  void interrupt();

private:
  struct TaskState {
    const tasks::Task* task = nullptr;
    store::RowId row = 0;
    TaskHistory history;
    bool searchable = false;      ///< the task's baseline is correct
    std::set<std::string> active; ///< keys of calls that are in flight or judged
    double best_speedup = 0;      ///< of promoted candidates
  };
  struct Call {
    TaskState* state = nullptr;
    Proposal proposal;
    agents::ModelRequest request;
    store::RowId row = 0;
    /// What may be billed without an answer; nullopt: nothing.
    std::optional<CallEstimate> at_stake;
  };
  struct Judgement {
    TaskState* state = nullptr;
    std::optional<Proposal> proposal; ///< nullopt: this judges the baseline
    std::string text;
  };
  struct Reply {
    std::string key;
    agents::ModelReply reply;
  };
  struct Interruption {};
  using Event = std::variant<Reply, JudgeResult, Interruption>;
  enum class Stop : std::uint8_t { No, Interrupted, WallTime, Failure };

  // run_restore.cpp: restores the results of earlier sessions
  void restore();
  void tell_restored();
  const store::CandidateState* known_candidate(const TaskState& state,
                                               const std::string& call_key) const;

  // run_calls.cpp: calls of the model
  void dispatch();
  std::vector<std::pair<TaskState*, Proposal>> open_proposals();
  bool start(TaskState& state, const Proposal& proposal);
  void send(TaskState& state, const Proposal& proposal, const agents::ModelRequest& request,
            const CallEstimate& estimate);
  agents::ModelRequest request_for(const TaskState& state, const Proposal& proposal) const;
  std::optional<Event> next_event(std::chrono::milliseconds wait);
  void take(Event event);
  void take_arrived();
  void handle(Reply& event);
  void handle_failure(const Call& call, const agents::ModelReply& reply);
  void release(const Call& call);
  void end_chain(TaskState& state, const Proposal& proposal, const std::string& why);
  void drain();

  // run_judgements.cpp: evaluations of candidates
  void begin_baseline(TaskState& state);
  void accept_reply(TaskState& state, const Proposal& proposal, const agents::ModelReply& reply);
  store::RowId add_candidate(TaskState& state, const Proposal& proposal, const std::string& text);
  void enqueue(TaskState& state, const std::optional<Proposal>& proposal, store::RowId candidate,
               const std::string& text);
  void handle(JudgeResult& result);
  /// Decides whether an evaluation that would lead its chain may do so, and notes that in it.
  static void gate(const Chain& chain, tasks::Evaluation& evaluation);
  void record(const JudgeResult& result, const Judgement& judgement);
  void attach(TaskState& state, const Proposal& proposal, PastAttempt attempt);
  void attach_baseline(TaskState& state, PastAttempt attempt);
  void tell(const TaskState& state, const Proposal& proposal, const tasks::Evaluation& evaluation);
  tasks::Evaluation bad_reply(const std::string& problem) const;

  // run_loop.cpp: the loop itself
  void begin_session();
  bool step();
  void handle(Interruption& event);
  void stop(Stop reason, std::string message);
  std::chrono::milliseconds elapsed() const;
  std::chrono::milliseconds next_wait() const;
  bool wall_time_spent() const;
  void show_progress();
  RunOutcome wind_up();
  RunOutcome outcome() const;

  RunLoopSetup setup_;
  std::chrono::steady_clock::time_point started_;
  Budget budget_;
  std::shared_ptr<EventQueue<Event>> queue_; ///< shared with callbacks that may outlive the loop
  std::deque<Event> arrived_; ///< events taken from the queue; their replies are stored already
  std::vector<TaskState> tasks_;
  std::map<std::string, Call> calls_;                   ///< in flight, by key
  std::map<store::RowId, Judgement> judging_;           ///< queued or running, by candidate
  std::map<std::string, store::ModelCallRow> recorded_; ///< by key
  /// By task and call key.
  std::map<std::pair<std::string, std::string>, store::CandidateState> known_;
  std::map<std::string, std::int64_t> verdicts_;
  bool session_begun_ = false;
  std::int64_t deferred_ = 0;   ///< number of calls whose replies come in another way
  std::int64_t unrecorded_ = 0; ///< number of calls for which the recording has no reply
  std::string refused_;         ///< the limit that stopped the last dispatch
  std::string trouble_;         ///< the last error that did not stop the run
  int failures_in_a_row_ = 0;
  int faults_in_a_row_ = 0; ///< faults of the machine
  Stop stop_ = Stop::No;
  std::string stop_message_;
  std::unique_ptr<JudgePool> judges_; ///< last, because its threads use the queue
};

} // namespace winnow::harness
