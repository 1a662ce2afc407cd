#include "lab/fit.h"

#include "base/error.h"
#include "lab/direct_fit.h"
#include "lab/minimise.h"
#include "lab/parallel_for.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace winnow::lab {
namespace {

SearchCalls simulated_searches(const Landscape& landscape, const search::Policy& policy,
                               const search::Settings& settings, std::size_t calls,
                               std::size_t tasks) {
  SearchCalls searches(tasks);
  const SessionPlan plan{{calls, 0, 0}, {1, 1}, settings, true};
  parallel_for(tasks, [&](std::size_t i) {
    RecordedSearch search;
    search.events = simulate(landscape, policy, plan, i + 1).events;
    searches[i] = calls_of(search);
  });
  return searches;
}

/// A number of the landscape on a scale without bounds.
struct Parameter {
  double& (*at)(Landscape&);
  double least, most;
  bool needs_later_calls; ///< the first calls of searches say nothing of this number
};

double to_free(const Parameter& parameter, double value) {
  const double inside = std::clamp(value, parameter.least + 1e-6, parameter.most - 1e-6);
  return std::log((inside - parameter.least) / (parameter.most - inside));
}

double from_free(const Parameter& parameter, double free) {
  return parameter.least + (parameter.most - parameter.least) / (1 + std::exp(-free));
}

const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> all{
      {[](Landscape& of) -> double& { return of.task.ceiling; }, 0.01, 6, false},
      {[](Landscape& of) -> double& { return of.task.ceiling_spread; }, 0.05, 4, false},
      {[](Landscape& of) -> double& { return of.gains.first_slower; }, 0, 1, false},
      {[](Landscape& of) -> double& { return of.gains.first_share; }, 0.02, 0.98, true},
      {[](Landscape& of) -> double& { return of.gains.first_alike; }, 0, 1, true},
      {[](Landscape& of) -> double& { return of.gains.improves; }, 0, 1, true},
      {[](Landscape& of) -> double& { return of.gains.hardness; }, 0, 4, true},
      {[](Landscape& of) -> double& { return of.gains.gap_share; }, 0.02, 0.98, true},
      {[](Landscape& of) -> double& { return of.gains.regression; }, 0.005, 3, true}};
  return all;
}

struct Target {
  std::vector<Statistic> statistics;
  search::Policy policy;
  search::Settings settings;
  std::size_t calls_per_search = 1;
};

/// The statistics of the target beside those of the landscape.
std::vector<FitRow> simulated_rows(const Target& target, const FitPlan& plan,
                                   const Landscape& landscape) {
  const std::vector<Statistic> simulated = simulated_statistics(
      landscape, target.policy, target.settings, target.calls_per_search, plan.tasks);
  std::vector<FitRow> rows;
  for (const Statistic& recorded : target.statistics) {
    const auto found =
        std::find_if(simulated.begin(), simulated.end(),
                     [&](const Statistic& other) { return other.name == recorded.name; });
    if (found != simulated.end()) {
      rows.push_back({recorded.name, recorded.value, recorded.error, found->value});
    }
  }
  return rows;
}

double squared_errors(const std::vector<FitRow>& rows) {
  double squares = 0;
  for (const FitRow& row : rows) {
    squares += std::pow((row.simulated - row.recorded) / row.error, 2);
  }
  return squares;
}

/// Simulated moments (McFadden 1989), held near the start where the records say nothing.
void fit_gains(const Target& target, const FitPlan& plan, Landscape& landscape) {
  constexpr double kPriorWidth = 2, kStep = 0.6;
  std::vector<Parameter> fitted;
  std::vector<double> start;
  for (const Parameter& parameter : parameters()) {
    if (target.calls_per_search > 1 || !parameter.needs_later_calls) {
      fitted.push_back(parameter);
      start.push_back(to_free(parameter, parameter.at(landscape)));
    }
  }
  const auto with = [&](const std::vector<double>& free) {
    Landscape changed = landscape;
    for (std::size_t i = 0; i < free.size(); ++i) {
      fitted[i].at(changed) = from_free(fitted[i], free[i]);
    }
    return changed;
  };
  const auto distance = [&](const std::vector<double>& free) {
    double sum = squared_errors(simulated_rows(target, plan, with(free)));
    for (std::size_t i = 0; i < free.size(); ++i) {
      sum += std::pow((free[i] - start[i]) / kPriorWidth, 2);
    }
    return sum;
  };
  landscape = with(minimise(distance, start, kStep, plan.evaluations));
}

Fit finished(const Target& target, const FitPlan& plan, Landscape landscape) {
  Fit result;
  landscape.name = plan.name;
  const std::string later = target.calls_per_search > 1
                                ? "simulated searches have its statistics"
                                : "first_slower; the others: " + landscape.sources["gains"];
  landscape.sources["gains"] = plan.source + ": " + later;
  landscape.sources["task"] =
      plan.source + ": ceilings as [gains]; structures and least_ceiling: see docs/lab.md";
  fit_gains(target, plan, landscape);
  result.rows = simulated_rows(target, plan, landscape);
  const auto count = static_cast<double>(std::max<std::size_t>(result.rows.size(), 1));
  result.mean_error = std::sqrt(squared_errors(result.rows) / count);
  result.landscape = std::move(landscape);
  return result;
}

} // namespace

std::vector<Statistic> simulated_statistics(const Landscape& landscape,
                                            const search::Policy& policy,
                                            const search::Settings& settings,
                                            std::size_t calls_per_search, std::size_t tasks) {
  constexpr std::size_t kFirstCalls = 3;
  std::vector<Statistic> statistics =
      observe(simulated_searches(landscape, policy, settings, calls_per_search, tasks));
  if (calls_per_search > 1) { // searches in depth say nothing of how first calls differ
    const search::Policy& wide = search::preset("best-of-n").policy;
    for (const Statistic& one :
         observe(simulated_searches(landscape, wide, settings, kFirstCalls, tasks))) {
      if (one.name == "best of 3 first calls") {
        std::erase_if(statistics, [&](const Statistic& other) { return other.name == one.name; });
        statistics.push_back(one);
      }
    }
  }
  return statistics;
}

Fit fit(const std::vector<RecordedSearch>& searches, const Landscape& base, const FitPlan& plan) {
  SearchCalls judged;
  std::vector<ModelCall> model_calls;
  std::size_t calls = 0;
  for (const RecordedSearch& search : searches) {
    std::vector<RecordedCall> of_search = calls_of(search);
    if (!of_search.empty()) {
      calls += of_search.size();
      judged.push_back(std::move(of_search));
      model_calls.insert(model_calls.end(), search.calls.begin(), search.calls.end());
    }
  }
  if (calls == 0) {
    throw UsageError("the records have no judged reply", "fit to a run with judged replies");
  }
  Landscape landscape = base;
  landscape.task.has_baseline = searches.front().settings.has_baseline;
  std::vector<std::string> notes = fit_directly(judged, model_calls, plan.source, landscape);
  const auto per_search = static_cast<double>(calls) / static_cast<double>(judged.size());
  Target target{observe(judged), searches.front().policy, searches.front().settings,
                static_cast<std::size_t>(std::max(1L, std::lround(per_search)))};
  Fit result = finished(target, plan, std::move(landscape));
  result.searches = judged.size();
  result.calls = calls;
  result.notes = std::move(notes);
  if (target.calls_per_search == 1) {
    result.notes.emplace_back("searches of one call say nothing of the gains of later calls");
  }
  return result;
}

Fit fit(const PublishedStatistics& published, const Landscape& base, const FitPlan& plan) {
  const Target target{
      published.statistics, search::preset("one-plus-one").policy, {}, published.calls_per_search};
  Landscape untuned = base;
  untuned.tuning.tunable = 0; // the published loops had no tuner
  Fit result = finished(target, plan, std::move(untuned));
  result.landscape.tuning = base.tuning;
  return result;
}

} // namespace winnow::lab
