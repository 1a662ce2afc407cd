#pragma once

#include "search/forecast_account.h"
#include "search/search.h"
#include "search/speed_neighbours.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace winnow::search {

/// The role `forecaster`: a queue of models' candidates in front of the devices. While a device is
/// free, the queue changes nothing. While all devices have work, candidates wait here, and the
/// forecaster is asked for the speed of each one (speed_bins.h). When a device becomes free, the
/// candidate goes first that is most likely to be faster than the best kernel. Improbable
/// candidates are left out (refuses()), except for audits.
///
/// A candidate without a forecast is judged by SpeedNeighbours, which asks no model. If forecasts
/// are no better than that (ForecastAccount), the forecaster is switched off. From then on
/// SpeedNeighbours alone orders the queue, and no candidate is left out.
///
/// The search inside believes that a waiting evaluation is under way, so it goes on deciding.
class ForecastQueue : public Search {
public:
  /// `settings`: those of `inner`.
  ForecastQueue(std::unique_ptr<Search> inner, Settings settings);

  std::optional<Action> decide(const Capacity& capacity) const override;
  void apply(const Event& event) override;
  bool promotes(CandidateId candidate, const Outcome& outcome) const override {
    return inner_->promotes(candidate, outcome);
  }
  const Individual* find(CandidateId candidate) const override { return inner_->find(candidate); }
  std::optional<CandidateId> rival_of(CandidateId candidate) const override {
    return inner_->rival_of(candidate);
  }
  std::size_t asks() const override { return inner_->asks(); }
  std::size_t proposals() const override { return inner_->proposals(); }
  std::vector<Earnings> earnings() const override { return inner_->earnings(); }
  std::vector<Earnings> earnings_of_missions() const override {
    return inner_->earnings_of_missions();
  }
  std::string why_done() const override { return inner_->why_done(); }
  bool has_enough() const override { return inner_->has_enough(); }
  bool is_held_up() const override { return inner_->is_held_up() || next_forecast(); }
  bool refuses(const Advised& advised) const override;
  std::vector<RoleStanding> roles() const override;
  const ForecastScore* forecast_of(CandidateId candidate) const override;

private:
  struct Forecast {
    CandidateId candidate = 0;
    SpeedChances model_free{};           ///< when the forecaster was asked
    std::optional<SpeedChances> chances; ///< nullopt: no useful reply, or none yet
    double chance = 0;                   ///< of beating the best kernel, when the reply came
    bool is_improbable = false;
  };

  void on(const Decided& event);
  void on(const Advised& event);
  void on(const Unanswered& event);
  template <typename Other> void on(const Other& event) { inner_->apply(event); }

  bool is_first_evaluation(const Evaluate& evaluate) const;
  void take_over_evaluations();
  Evaluate next_for_device() const;
  std::optional<Ask> next_forecast() const;
  const Individual* parent_of(CandidateId candidate) const;
  Facts facts_of(CandidateId candidate) const;
  double chance_of_beating_best(CandidateId candidate, const SpeedChances& chances) const;
  double chance_of(CandidateId candidate) const;
  bool is_improbable(CandidateId candidate, const SpeedChances& chances) const;
  void settle(CandidateId candidate);

  std::unique_ptr<Search> inner_;
  Settings settings_;
  RoleStanding standing_;
  std::map<CandidateId, Evaluate> waiting_;   ///< for a device
  std::map<CandidateId, Facts> facts_;        ///< as Added and Compiled tell them
  std::map<std::string, Forecast> forecasts_; ///< by the key of the call
  std::map<CandidateId, std::string> asked_;  ///< the key of the call about a candidate
  std::set<std::string> open_;                ///< calls without an end
  std::map<CandidateId, CandidateId> raced_;  ///< the incumbent of the first evaluation
  std::map<CandidateId, ForecastScore> scores_;
  std::set<CandidateId> settled_;
  SpeedNeighbours neighbours_;
  ForecastAccount account_;
};

/// The forecaster's call about the candidate that this call for a kernel has brought: "axpy/0/3"
/// has the forecast "axpy/forecast/0/3". So the reply in a recording is about the same kernel,
/// whichever candidates wait.
std::string forecast_key(const Settings& settings, const std::string& kernel_key);

/// Whether a candidate is measured although its forecast is improbable: true for
/// kForecastAuditShare of all candidates. A function of the seed and the kernel's call, so that a
/// resumed run, and the same run in another store, draw the same.
bool is_measured_anyway(const Settings& settings, const std::string& kernel_key);

} // namespace winnow::search
