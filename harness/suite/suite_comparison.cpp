#include "base/text.h"
#include "harness/suite/suite_scores.h"
#include "profiling/statistics/sign_flip.h"
#include "profiling/statistics/summary.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

bool has_correct_kernel(const json& problem) {
  return problem.at("correct").get<std::int64_t>() > 0;
}

/// 0 or less: there is no correct kernel with a speedup.
double best_speedup(const json& problem) {
  if (!has_correct_kernel(problem) || problem.at("best").at("speedup").is_null()) {
    return 0;
  }
  return problem.at("best").at("speedup").get<double>();
}

template <int K> double pass_share(const json& run, const json& problem) {
  const auto replies = run.at("calls_per_problem").get<std::int64_t>();
  const bool is_independent =
      run.value("is_independent", has_independent_replies(run.at("strategy").get<std::string>()));
  if (!is_independent || K > replies) {
    return kUnknown;
  }
  return pass_at(K, replies, std::min(replies, problem.at("correct").get<std::int64_t>()));
}

template <int P> double is_faster(const json& /*run*/, const json& problem) {
  return best_speedup(problem) > P ? 1 : 0;
}

/// A mean over the problems of a suite.
struct SuiteQuantity {
  const char* name;
  double (*of_problem)(const json& run, const json& problem); ///< NaN: not known
  bool is_logarithm = false;                                  ///< the mean is a geometric one
};

constexpr SuiteQuantity kQuantities[] = {
    {"correct", [](const json& /*run*/,
                   const json& problem) { return has_correct_kernel(problem) ? 1.0 : 0.0; }},
    {"pass_at_1", pass_share<1>},
    {"pass_at_5", pass_share<5>},
    {"pass_at_10", pass_share<10>},
    {"fast_1", is_faster<1>},
    {"fast_2", is_faster<2>},
    {"speedup",
     [](const json& /*run*/, const json& problem) {
       const double speedup = best_speedup(problem);
       return speedup > 0 ? std::log(speedup) : kUnknown;
     },
     true},
    {"proficiency",
     [](const json& /*run*/, const json& problem) {
       const json& level = problem.at("proficiency");
       return level.is_null() ? kUnknown : level.get<double>();
     }},
};

/// Of one quantity and one run: a value for each problem, in the order of the suite.
using SuiteSeries = std::vector<double>;

json mean_json(const SuiteQuantity& quantity, const SuiteSeries& series) {
  json mean{{"value", nullptr}, {"low", nullptr}, {"high", nullptr}, {"problems", 0}};
  const auto summary = profiling::summarize(series);
  if (!summary) {
    return mean;
  }
  const auto shown = [&](double value) { return quantity.is_logarithm ? std::exp(value) : value; };
  mean["value"] = shown(summary->mean);
  mean["problems"] = summary->count;
  const auto interval = profiling::bootstrap_mean_interval(series);
  if (interval && summary->minimum < summary->maximum) { // equal values tell nothing of the spread
    mean["low"] = shown(interval->low);
    mean["high"] = shown(interval->high);
  }
  return mean;
}

/// Whether the mean of `a` is above that of `b`, outside the noise, at the problems of both.
bool is_surely_above(const SuiteSeries& a, const SuiteSeries& b) {
  SuiteSeries differences(a.size());
  std::transform(a.begin(), a.end(), b.begin(), differences.begin(), std::minus<>());
  const auto summary = profiling::summarize(differences);
  return summary && summary->mean > 0 &&
         profiling::sign_flip_p_value(differences) < 1 - profiling::kConfidence;
}

/// Adds `rank` (1 + the number of runs that are surely above) and `tied` to the means.
void put_ranks(std::vector<json>& means, const std::vector<SuiteSeries>& series) {
  std::map<std::size_t, int> runs_at;
  for (std::size_t i = 0; i < means.size(); ++i) {
    means[i]["rank"] = nullptr;
    means[i]["tied"] = false;
    if (!means[i].at("value").is_null()) {
      const auto above = std::count_if(series.begin(), series.end(), [&](const SuiteSeries& other) {
        return is_surely_above(other, series[i]);
      });
      means[i]["rank"] = 1 + above;
      ++runs_at[static_cast<std::size_t>(1 + above)];
    }
  }
  for (json& mean : means) {
    if (!mean.at("rank").is_null()) {
      mean["tied"] = runs_at[mean.at("rank").get<std::size_t>()] > 1;
    }
  }
}

std::vector<const json*> unflagged(const json& run) {
  std::vector<const json*> problems;
  for (const json& problem : run.at("problems")) {
    if (!problem.at("is_flagged").get<bool>()) {
      problems.push_back(&problem);
    }
  }
  return problems;
}

/// The run's name and state, and what all of its calls took.
json row_json(const json& run) {
  const std::string model = join(run.at("models").get<std::vector<std::string>>(), ", ");
  const auto strategy = run.at("strategy").get<std::string>();
  const auto distinction = run.at("distinction").get<std::string>();
  json row{{"label", model + ", " + strategy + (distinction.empty() ? "" : ", " + distinction)},
           {"model", model},
           {"strategy", strategy}};
  for (const char* name : {"run_id", "run", "status", "device_names", "calls_per_problem"}) {
    row[name] = run.at(name);
  }
  for (const char* name : {"calls", "prompt_tokens", "completion_tokens", "dollars",
                           "calls_without_price", "device_seconds"}) {
    row[name] = run.at("folders").back().at(name);
  }
  return row;
}

/// Adds a quantity to the rows.
void put_quantity(const SuiteQuantity& quantity, const std::vector<const json*>& runs,
                  std::vector<json>& rows) {
  std::vector<SuiteSeries> series;
  std::vector<json> means;
  for (const json* run : runs) {
    SuiteSeries& own = series.emplace_back();
    for (const json* problem : unflagged(*run)) {
      own.push_back(quantity.of_problem(*run, *problem));
    }
    means.push_back(mean_json(quantity, own));
  }
  put_ranks(means, series);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i][quantity.name] = std::move(means[i]);
  }
}

/// A rank that is not known comes last.
std::int64_t rank_of(const json& row, const char* quantity) {
  const json& rank = row.at(quantity).at("rank");
  return rank.is_null() ? std::numeric_limits<std::int64_t>::max() : rank.get<std::int64_t>();
}

/// Whether two rows have different values.
bool differ(const std::vector<json>& rows, const char* field) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const json& row) { return row.at(field) != rows.front().at(field); });
}

/// What may make the rows look more alike, or more different, than the models are.
json notes_of(const std::vector<json>& rows, std::size_t problems) {
  json notes = json::array();
  if (problems < profiling::kMinSamplesOfMean) {
    notes.push_back(fmt::format("fewer than {} problems: no interval, and all rows tie",
                                profiling::kMinSamplesOfMean));
  }
  if (differ(rows, "device_names")) {
    notes.push_back("the rows are from different devices, so their speedups do not compare");
  }
  if (differ(rows, "calls_per_problem")) {
    notes.push_back("the rows have different numbers of calls for each problem");
  }
  if (differ(rows, "status")) {
    notes.push_back("not all runs are finished; calls that were not made count as wrong");
  }
  if (std::any_of(rows.begin(), rows.end(), [](const json& row) {
        return row.at("calls_without_price") > 0 && !row.at("dollars").is_null();
      })) {
    notes.push_back("some calls have no price: the cost of their rows is a lower bound");
  }
  return notes;
}

} // namespace

json comparison_json(const json& document) {
  std::vector<const json*> runs;
  std::vector<json> rows;
  std::size_t problems = 0, flagged = 0;
  for (const json& run : document.at("runs")) {
    runs.push_back(&run);
    rows.push_back(row_json(run));
    problems = unflagged(run).size();
    flagged = run.at("problems").size() - problems;
  }
  for (const SuiteQuantity& quantity : kQuantities) {
    put_quantity(quantity, runs, rows);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const json& a, const json& b) {
    return std::pair(rank_of(a, "correct"), rank_of(a, "speedup")) <
           std::pair(rank_of(b, "correct"), rank_of(b, "speedup"));
  });
  const json notes = rows.empty() ? json::array() : notes_of(rows, problems);
  return {{"problems", problems}, {"flagged", flagged}, {"rows", rows}, {"notes", notes}};
}

} // namespace winnow::harness
