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

/// Everything a run needs; all references outlive the loop.
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
  std::vector<JudgeFactory> judges; ///< one per device
  decltype(JudgePoolSetup::compile_ahead) compile_ahead;
  unsigned compile_threads = 0;
  Progress& progress;
  std::optional<agents::Price> price = {};     ///< of the endpoint's calls; nullopt: unknown
  bool is_finished = false;                    ///< by an earlier session
  std::chrono::milliseconds elapsed_before{0}; ///< in earlier sessions of this run
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

struct RunOutcome {
  /// Waiting: nothing is left but calls whose replies come from elsewhere. RecordingSpent: nothing
  /// is left but calls that the recording has no reply to.
  enum class End : std::uint8_t {
    Finished,
    BudgetSpent,
    Interrupted,
    Failed,
    Waiting,
    RecordingSpent
  };
  End end = End::Finished;
  bool was_finished = false; ///< before this session, which found nothing to do
  std::string message;       ///< why, unless finished
  Spend spend;
  std::chrono::milliseconds elapsed{0}; ///< earlier sessions included
};

/// Asks, judges and records until the strategy wants no more, a limit strikes or somebody
/// interrupts. One thread decides and writes the store; replies and verdicts reach it through a
/// queue. A resumed run takes the same way from the start: a call that the store has the reply of
/// is not sent, a candidate that the store has the verdict of is not judged.
class RunLoop {
public:
  explicit RunLoop(RunLoopSetup setup);
  ~RunLoop();
  RunLoop(const RunLoop&) = delete; // callbacks point into it
  RunLoop& operator=(const RunLoop&) = delete;

  /// Throws Error when the store cannot be written.
  RunOutcome run();
  /// From any thread: stop sending, cancel what is in flight, keep what is paid for.
  void interrupt();

private:
  struct TaskState {
    const tasks::Task* task = nullptr;
    store::RowId row = 0;
    TaskHistory history;
    bool searchable = false;      ///< its baseline is correct
    std::set<std::string> active; ///< keys being asked or judged
    double best_speedup = 0;      ///< of those that were promoted
  };
  struct Call {
    TaskState* state = nullptr;
    Proposal proposal;
    agents::ModelRequest request;
    store::RowId row = 0;
    std::optional<CallEstimate>
        at_stake; ///< what may be billed without an answer; nullopt: nothing
  };
  struct Judgement {
    TaskState* state = nullptr;
    std::optional<Proposal> proposal; ///< nullopt: the baseline
    std::string text;
  };
  struct Reply {
    std::string key;
    agents::ModelReply reply;
  };
  struct Interruption {};
  using Event = std::variant<Reply, JudgeResult, Interruption>;
  enum class Stop : std::uint8_t { No, Interrupted, WallTime, Failure };

  // run_restore.cpp: what earlier sessions left
  void restore();
  void tell_restored();
  const store::CandidateState* known_candidate(const TaskState& state,
                                               const std::string& call_key) const;

  // run_calls.cpp: asking
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

  // run_judgements.cpp: judging
  void begin_baseline(TaskState& state);
  void accept_reply(TaskState& state, const Proposal& proposal, const agents::ModelReply& reply);
  store::RowId add_candidate(TaskState& state, const Proposal& proposal, const std::string& text);
  void enqueue(TaskState& state, const std::optional<Proposal>& proposal, store::RowId candidate,
               const std::string& text);
  void handle(JudgeResult& result);
  /// Says whether an evaluation that would lead its chain may do so.
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
  std::deque<Event> arrived_;                ///< taken from the queue, replies in the store
  std::vector<TaskState> tasks_;
  std::map<std::string, Call> calls_;                   ///< in flight, by key
  std::map<store::RowId, Judgement> judging_;           ///< queued or running, by candidate
  std::map<std::string, store::ModelCallRow> recorded_; ///< by key
  std::map<std::pair<std::string, std::string>, store::CandidateState> known_; ///< task, call key
  std::map<std::string, std::int64_t> verdicts_;
  bool session_begun_ = false;
  std::int64_t deferred_ = 0;   ///< calls whose replies come from elsewhere
  std::int64_t unrecorded_ = 0; ///< calls that the recording has no reply to
  std::string refused_;         ///< the limit that kept the last dispatch from sending
  std::string trouble_;         ///< what failed without stopping the run
  int failures_in_a_row_ = 0;
  int faults_in_a_row_ = 0; ///< of the machine
  Stop stop_ = Stop::No;
  std::string stop_message_;
  std::unique_ptr<JudgePool> judges_; ///< last: its threads use the queue
};

} // namespace winnow::harness
