#pragma once

#include "harness/serve/access.h"
#include "harness/serve/client_request.h"
#include "harness/serve/exchange.h"
#include "harness/serve/judge_service.h"
#include "harness/serve/result_lines.h"

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// The routes below /v1 (docs/serve.md).
class JudgeRoutes {
public:
  using Clock = std::chrono::steady_clock;
  struct Setup {
    std::string version;                       ///< of Winnow
    std::function<nlohmann::json()> task_list; ///< GET /v1/tasks
    std::function<nlohmann::json(const std::string&)>
        task; ///< GET /v1/tasks/NAME; throws UsageError
    /// What a command with --server prints, for the owner whose work it may show; empty: all.
    /// nullopt: there is no such page. Throws UsageError.
    std::function<std::optional<nlohmann::json>(const Target&, const std::string& sees)> report =
        [](const Target&, const std::string&) { return std::nullopt; };
    std::chrono::milliseconds heartbeat{15'000}; ///< between lines of a stream
    /// That the waiting requests of one owner may keep. One that does not fit is answered at once,
    /// with what there is.
    std::size_t waiting_bytes = std::size_t{64} << 20U;
    /// For what takes longer than a turn. By default at once, without turns.
    InTurn in_turn = [](const std::string&, const std::function<void()>& work, Turn) { work(); };
    std::chrono::milliseconds turn{20}; ///< then others have theirs
  };
  JudgeRoutes(JudgeService& service, Setup setup);

  /// Answers now or later. Throws UsageError for a request that
  /// the client must change, Error if the store fails.
  void answer(const std::shared_ptr<Exchange>& exchange, const Target& target,
              const Client& client);
  void tick();
  void end();               ///< answers all that waits, with what there is
  HttpReply health() const; ///< GET /v1/health

private:
  /// What is to be answered later.
  struct Waiter {
    std::shared_ptr<Exchange> exchange;
    Clock::time_point deadline;
    /// Answers, if it can or if it is `late`. True: the exchange is answered.
    std::function<bool(Waiter& self, bool late)> advance;
    std::chrono::milliseconds again{0}; ///< the next deadline of one that goes on; 0: none
    std::size_t bytes = 0;              ///< that `advance` keeps for the answer
    std::string owner = {};
    bool is_marked = false; ///< go_on() is to come
  };
  using Waiters = std::multimap<std::string, Waiter>; ///< by batch
  struct Call {                                       // what most functions need
    const std::shared_ptr<Exchange>& exchange;
    const Target& target;
    const std::string& owner;
    const Client& client;
    std::string sees = client.sees(); ///< the owner whose jobs it may see; empty: all
  };

  struct Intake; // a request to judge, while it is taken in

  void get(const Call& call);
  void declare_run(const Call& call);
  /// `run`: nullopt if the token has no such run.
  static void answer_run(const Call& call, const std::optional<nlohmann::json>& run);
  void judge(const Call& call);
  void parse(const std::shared_ptr<Intake>& intake);
  void take_in(const std::shared_ptr<Intake>& intake);
  void answer_accepted(const Intake& intake, const AcceptedBatch& batch);
  void wait_for_all(const Intake& intake, const std::string& batch, std::string jobs);
  static Clock::time_point deadline_of(const Call& call);
  void show_batch(const Call& call, const std::string& batch);
  void show_job(const Call& call, const std::string& job);
  void show_record(const Call& call, const std::string& job);
  void cancel_job(const Call& call, const std::string& job);
  void stream(const Call& call, const std::string& batch);
  HttpReply metrics() const;

  static bool advance(Waiter& waiter, bool late);
  bool has_room(const Waiter& waiter) const;
  void wait(const std::string& owner, const std::string& batch, Waiter waiter);
  void on_answer(const std::string& batch);
  void mark(Waiters::iterator waiter);
  void take_turn(const std::string& owner);
  static bool go_on(Waiter& waiter);

  JudgeService& service_;
  Setup setup_;
  ResultLines lines_;
  Waiters waiters_;
  /// By owner: those that have news, or are late. An owner that is here has a turn to come.
  std::map<std::string, std::deque<Waiters::iterator>> marked_;
};

} // namespace winnow::harness
