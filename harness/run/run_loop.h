#pragma once

#include "harness/run/candidate_intake.h"
#include "harness/run/goals.h"
#include "harness/run/judgements.h"
#include "harness/run/model_calls.h"
#include "harness/run/prompts/prompt_writer.h"
#include "harness/run/role_intake.h"
#include "harness/run/state/candidate_shelf.h"
#include "harness/run/state/run_clock.h"
#include "harness/run/state/run_event.h"
#include "harness/run/state/run_setup.h"
#include "harness/run/state/stop_sign.h"
#include "harness/run/state/task_state.h"
#include "harness/run/state/verdict_tally.h"

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace winnow::harness {

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
  /// What the calls have earned in all tasks and sessions, by operator and model.
  std::vector<search::Earnings> earnings = {};
  /// As Search::earnings_of_missions(), in all tasks and sessions.
  std::vector<search::Earnings> earnings_of_missions = {};
};

/// Carries out what the search of each task decides, until no search has more to do, a limit is
/// reached or the run is interrupted. One thread takes all decisions and writes to the store;
/// replies and verdicts reach this thread through a queue. A decision is in the log of its search
/// before it is carried out, and a result is logged together with the rows that hold it. A resumed
/// run applies the log and carries out again what has no result yet.
class RunLoop {
public:
  explicit RunLoop(RunLoopSetup setup);
  RunLoop(const RunLoop&) = delete; // its parts point to one another
  RunLoop& operator=(const RunLoop&) = delete;

  /// Throws Error if the store cannot be written.
  RunOutcome run();
  /// Any thread may call this. Stops sending, cancels calls in flight and keeps every reply that
  /// was paid for.
  void interrupt();

private:
  void begin_session();
  void restore();
  bool step();

  void dispatch();
  std::vector<TaskState*> most_urgent_first();
  bool advance(TaskState& state);
  search::Capacity capacity() const;
  void decide_evaluations(TaskState& state);
  bool start(TaskState& state, const search::Ask& ask, bool is_decided);
  bool may_start();
  void accept(TaskState& state, const search::Ask& ask, const agents::ModelReply& reply);
  void tell_why_done(TaskState& state);

  bool await_event(std::chrono::milliseconds wait);
  void take_arrived(std::chrono::milliseconds wait);
  void handle_arrived();
  void handle_first();
  void handle(Reply& event);
  void handle(evaluators::EvaluationResult& event);
  void handle(Interruption& event);

  void show_progress();
  void keep_time();
  void drain();
  RunOutcome wind_up();
  RunOutcome outcome() const;
  using EarningsOf = std::vector<search::Earnings> (search::Search::*)() const;
  std::vector<search::Earnings> sums_of(EarningsOf earnings) const;

  RunLoopSetup setup_;
  RunClock clock_;
  std::shared_ptr<RunQueue> queue_; ///< shared with callbacks that may outlive the loop
  std::deque<RunEvent> arrived_; ///< events taken from the queue; their replies are stored already
  std::vector<TaskState> tasks_;
  bool session_begun_ = false;
  std::chrono::milliseconds kept_time_{0};     ///< the last that an event of keep_time() has
  std::optional<ModelCalls::Refusal> refused_; ///< the limit that stopped the last dispatch
  bool is_told_reserve_ = false;               ///< that the rest of the time is kept was said
  Goals goals_;
  StopSign stop_;
  CandidateShelf shelf_;
  VerdictTally tally_;
  PromptWriter prompts_;
  CandidateIntake intake_;
  RoleIntake roles_;
  ModelCalls calls_;
  Judgements judgements_;
};

} // namespace winnow::harness
