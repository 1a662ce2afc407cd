#pragma once

#include "agents/prompts.h"
#include "evaluators/evaluation/evaluations.h"
#include "harness/config/config.h"
#include "harness/run/budget.h"
#include "harness/run/candidate_shelf.h"
#include "harness/run/event_queue.h"
#include "harness/run/journal.h"
#include "harness/run/progress.h"
#include "search/search.h"

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace winnow::harness {

/// What the search of a task needs to know of the configuration.
search::Settings search_settings(const RunConfig& config, const std::string& task);

/// Everything that a run needs. All references must outlive the loop.
struct RunLoopSetup {
  const RunConfig& config;
  std::vector<tasks::Task> tasks;
  tasks::DeviceFacts facts;
  std::string device_kind;
  std::string device_name;
  Journal& journal;
  agents::ModelEndpoint& endpoint;
  std::function<std::vector<agents::Message>(const agents::ProposalContext&)> prompts;
  evaluators::EvaluationsFactory evaluations;
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

/// Carries out what the search of each task decides, until no search has more to do, a limit is
/// reached or the run is interrupted. One thread takes all decisions and writes to the store;
/// replies and verdicts reach this thread through a queue. A decision is in the log of its search
/// before it is carried out, and a result is logged together with the rows that hold it. A resumed
/// run applies the log and carries out again what has no result yet.
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
    std::shared_ptr<const tasks::Task> task;
    store::RowId row = 0;
    store::RowId baseline = 0; ///< its candidate; 0: not in the store yet
    std::unique_ptr<search::Search> search;
    bool is_told_done = false;              ///< why its search is over was said
    bool is_resumed = false;                ///< an earlier session has logged something
    std::vector<search::Ask> unsent;        ///< earlier sessions decided them; they have no reply
    std::vector<search::Evaluate> unjudged; ///< earlier sessions decided them; they have no result
    double best_speedup = 0;                ///< of promoted candidates
  };
  struct Call {
    TaskState* state = nullptr;
    search::Ask ask;
    agents::ModelRequest request;
    store::RowId row = 0;
    /// What may be billed without an answer; nullopt: nothing.
    std::optional<CallEstimate> at_stake;
  };
  struct Judgement {
    TaskState* state = nullptr;
    search::Evaluate what;
    std::string key; ///< of the call; empty: the baseline
    std::string text;
    store::RowId candidate() const { return what.candidate; }
  };
  struct Reply {
    std::string key;
    agents::ModelReply reply;
  };
  struct Interruption {};
  using Event = std::variant<Reply, evaluators::EvaluationResult, Interruption>;
  enum class Stop : std::uint8_t { No, Interrupted, WallTime, Failure };

  // run_restore.cpp: restores the results of earlier sessions
  void restore();
  void restore(TaskState& state);
  static void drop_unjudged(TaskState& state, const search::Evaluate& ended);
  void restore_calls();
  void tell_restored(std::int64_t replies);

  // run_calls.cpp: calls of the model
  void dispatch();
  std::vector<TaskState*> fewest_asks_first();
  bool advance(TaskState& state);
  bool start(TaskState& state, const search::Ask& ask, bool is_decided);
  void send(TaskState& state, const search::Ask& ask, const agents::ModelRequest& request,
            const CallEstimate& estimate, bool is_decided);
  int free_calls() const;
  agents::ModelRequest request_for(const TaskState& state, const search::Ask& ask);
  agents::Attempt attempt(const search::Card& card, bool with_limits);
  void tell_why_done(TaskState& state);
  std::string limits_of(store::RowId candidate);
  std::optional<Event> next_event(std::chrono::milliseconds wait);
  void take(Event event);
  void take_arrived();
  void handle(Reply& event);
  void handle_failure(const Call& call, const agents::ModelReply& reply);
  void release(const Call& call);
  void give_up(TaskState& state, const search::Ask& ask, const std::string& why);
  void drain();

  // run_judgements.cpp: evaluations of candidates
  /// Stores the events that `work` returns, in one transaction with what `work` writes. Then
  /// applies them.
  void commit(TaskState& state, const std::function<std::vector<search::Event>()>& work);
  void add_first_kernels(TaskState& state);
  void accept_reply(TaskState& state, const search::Ask& ask, const agents::ModelReply& reply);
  store::RowId add_candidate(const TaskState& state, const search::Ask& ask,
                             const std::string& text);
  tasks::Evaluation blank(tasks::Verdict verdict, std::string detail) const;
  void decide_evaluations(TaskState& state);
  void submit(TaskState& state, const search::Evaluate& evaluate);
  void handle(evaluators::EvaluationResult& result);
  void record_fault(const Judgement& judgement, const tasks::Evaluation& fault);
  void record_heat(const Judgement& judgement, const evaluators::EvaluationResult& result);
  void record(const Judgement& judgement, const std::string& request,
              tasks::Evaluation& evaluation);
  void settle(const Judgement& judgement, const tasks::Evaluation& fault);
  nlohmann::json account_of(const Judgement& judgement, const tasks::Evaluation& evaluation) const;
  void count(tasks::Verdict verdict);
  void count(TaskState& state, bool is_baseline, const search::Outcome& outcome);
  std::vector<tasks::ParameterChoice> choices_of(const std::string& text) const;
  /// Leaves the task out if its baseline is not correct.
  void check_baseline(const TaskState& state, const tasks::Evaluation& evaluation);
  void tell_judged(const Judgement& judgement, const tasks::Evaluation& evaluation);
  void tell(const TaskState& state, const std::string& key, const tasks::Evaluation& evaluation);

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
  std::map<std::string, Call> calls_;        ///< in flight, by key
  std::map<std::string, Judgement> judging_; ///< queued or running, by request id
  CandidateShelf shelf_;
  std::map<std::string, std::int64_t> verdicts_;
  std::chrono::milliseconds last_result_{0}; ///< elapsed() at the newest verdict
  bool session_begun_ = false;
  std::int64_t deferred_ = 0;   ///< number of calls whose replies come in another way
  std::int64_t unrecorded_ = 0; ///< number of calls for which the recording has no reply
  std::string refused_;         ///< the limit that stopped the last dispatch
  std::string trouble_;         ///< the last error that did not stop the run
  int failures_in_a_row_ = 0;
  int faults_in_a_row_ = 0; ///< faults of the machine
  Stop stop_ = Stop::No;
  std::string stop_message_;
  /// Last, because its threads use the queue.
  std::unique_ptr<evaluators::Evaluations> evaluations_;
};

} // namespace winnow::harness
