#pragma once

#include "agents/model/model_endpoint.h"
#include "search/event.h"
#include "store/run_store.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// Writes a run's data to its store. Every write is durable when the function returns, except
/// within transaction() and batch(). One thread uses it.
class Journal {
public:
  /// `after_write` runs after every write. Tests let it throw to stop a run at that point.
  Journal(store::RunStore& store, store::RowId run, std::function<void()> after_write = {});

  store::RowId add_task(const tasks::Task& task);
  /// `reserved`: the possible cost of the call if no reply comes; nullopt: no cost.
  store::RowId begin_call(store::RowId task, const agents::ModelRequest& request,
                          std::string_view endpoint,
                          const std::optional<store::CallReservation>& reserved);
  /// Replaces the reservation of a call that stays open; nullopt: no cost.
  void set_reservation(store::RowId call, const std::optional<store::CallReservation>& reserved);
  /// The call stays open. `measured` replaces its reservation, `estimated` is added to what was
  /// lost.
  void end_unanswered(store::RowId call, const std::optional<store::CallReservation>& measured,
                      const agents::EstimatedCost& estimated);
  /// A reply that another run of the store paid for the same request and that this run has not used
  /// yet. It costs nothing.
  std::optional<agents::ModelReply> recorded_reply(store::RowId call) const;
  /// Call this only for replies that arrived. A call that failed stays open, and a resumed run
  /// sends it again.
  void finish_call(store::RowId call, const agents::ModelRequest& request,
                   const agents::ModelReply& reply);
  store::RowId add_candidate(store::RowId task, const store::CandidateRow& candidate);
  // As the methods of RunStore.
  void add_evaluations(store::RowId candidate, const std::vector<tasks::Evaluation>& evaluations,
                       std::string_view request = {});
  void add_trials(store::RowId candidate, const std::vector<tasks::Evaluation>& trials,
                  std::string_view request, int turns);
  void supersede_evaluation(store::RowId candidate, const tasks::Evaluation& evaluation,
                            std::string_view request);
  void add_advice(const store::AdviceRow& advice);
  void add_forecast_score(std::string_view key, const store::ForecastRow& score);
  void add_advice_scores(std::string_view key, const std::vector<store::AdviceScore>& scores);
  void add_prompt_arm(store::RowId candidate, std::string_view variant, bool memory, bool exemplar,
                      double gain);
  void event(std::string_view kind, const nlohmann::json& detail);
  /// Appends to the log of the task's search.
  void log(store::RowId task, const search::Event& event);
  /// Makes one transaction of all writes in `work`.
  void transaction(const std::function<void()>& work);
  /// Like transaction(), for the writes of several steps: the disk is waited for once.
  void batch(const std::function<void()>& work);
  /// Runs `action` when all writes so far are durable: at the end of batch(), otherwise at once. If
  /// `work` of batch() throws, `action` never runs.
  void when_durable(std::function<void()> action);
  void set_status(std::string_view status);

  bool has_file(store::RowId task, std::string_view digest) const {
    return store_.has_file(run_, task, digest);
  }
  bool has_event(std::string_view kind, const nlohmann::json& detail) const;
  std::optional<store::AdviceRow> find_advice(std::string_view key) const {
    return store_.find_advice(run_, key);
  }
  std::vector<store::ModelCallRow> finished_calls() const { return store_.finished_calls(run_); }
  store::RunCosts costs() const { return store_.run_costs(run_); }
  std::vector<search::Event> search_events(store::RowId task) const;
  const store::RunStore& store() const { return store_; }
  store::RowId run() const { return run_; }

private:
  void written() const;

  store::RunStore& store_;
  store::RowId run_;
  std::function<void()> after_write_;
  bool is_in_batch_ = false;
  std::vector<std::function<void()>> when_durable_; ///< of the batch
};

/// The field of an event's detail with the time that the run had taken so far, over all sessions.
constexpr const char* kElapsedSeconds = "elapsed_seconds";
double seconds(std::chrono::milliseconds duration);
/// The time that earlier sessions took, as far as their events tell.
std::chrono::milliseconds elapsed_before(const std::vector<store::EventRow>& events);
/// A request as it is recorded: everything except its key.
nlohmann::json request_json(const agents::ModelRequest& request);
/// A recorded reply in the form of a reply that has just arrived.
agents::ModelReply reply_from_row(const store::ModelCallRow& row);

} // namespace winnow::harness
