#include "lab/statistics.h"

#include "search/population.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <fmt/format.h>

namespace winnow::lab {
namespace {

constexpr std::ptrdiff_t kFirstCalls = 3;
constexpr double kHit = 0.02;   // gains of more than 2 % count as hits
constexpr double kTopGains = 7; // the largest gain of so many

/// `count` trials, of which `hits` hit. The error of a share near 0 or 1 is that of one hit.
Statistic share_of(std::string name, double hits, double count) {
  const double share = count > 0 ? hits / count : 0;
  const double variance = std::max(share * (1 - share), 1 / std::max(count, 2.0));
  return {std::move(name), share, std::sqrt(variance / std::max(count, 1.0))};
}

using Predicate = std::function<bool(const RecordedCall&)>;

Statistic share_of_calls(const std::string& name, const SearchCalls& searches,
                         const Predicate& holds) {
  double hits = 0, count = 0;
  for (const auto& calls : searches) {
    count += static_cast<double>(calls.size());
    hits += static_cast<double>(std::count_if(calls.begin(), calls.end(), holds));
  }
  return share_of(name, hits, count);
}

/// Of the calls with these indices, from 0.
Statistic hits(const std::string& name, const SearchCalls& searches, std::size_t from,
               std::size_t to) {
  double hits = 0, count = 0;
  for (const auto& calls : searches) {
    for (std::size_t i = from; i < std::min(to, calls.size()); ++i) {
      ++count;
      hits += calls[i].gain() > kHit ? 1 : 0;
    }
  }
  Statistic statistic = share_of(name, hits, count);
  statistic.error = count > 0 ? statistic.error : -1;
  return statistic;
}

double gain_of(const std::vector<RecordedCall>& calls, std::size_t first_calls) {
  double sum = 0;
  for (std::size_t i = 0; i < std::min(first_calls, calls.size()); ++i) {
    sum += calls[i].gain();
  }
  return sum;
}

/// A ratio of sums over the searches, with the error of a ratio estimator (Cochran 1977). With few
/// searches one of them can carry most of the gain, so the error is at least that of a share of so
/// many searches.
Statistic gain_after(const SearchCalls& searches, std::size_t first_calls) {
  std::vector<double> parts, wholes;
  for (const auto& calls : searches) {
    parts.push_back(gain_of(calls, first_calls));
    wholes.push_back(gain_of(calls, calls.size()));
  }
  const double whole = std::accumulate(wholes.begin(), wholes.end(), 0.0);
  Statistic statistic{fmt::format("gain after {}", first_calls), 0, -1};
  if (whole <= 0) {
    return statistic;
  }
  statistic.value = std::accumulate(parts.begin(), parts.end(), 0.0) / whole;
  double squares = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    squares += std::pow(parts[i] - statistic.value * wholes[i], 2);
  }
  const Statistic coarse = share_of("", statistic.value * static_cast<double>(parts.size()),
                                    static_cast<double>(parts.size()));
  statistic.error = std::max(std::sqrt(squares) / whole, coarse.error);
  return statistic;
}

struct MeanAndSpread {
  double mean, spread;
};

/// Of at least two values.
MeanAndSpread mean_and_spread(const std::vector<double>& values) {
  constexpr double kLeastSpread = 0.01;
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
  }
  return {mean, std::max(std::sqrt(squares / (count - 1)), kLeastSpread)};
}

Statistic top_gains(const SearchCalls& searches) {
  std::vector<double> gains;
  for (const auto& calls : searches) {
    for (const RecordedCall& call : calls) {
      if (call.gain() > 0) {
        gains.push_back(call.gain());
      }
    }
  }
  std::sort(gains.rbegin(), gains.rend());
  const double whole = std::accumulate(gains.begin(), gains.end(), 0.0);
  const double top = static_cast<double>(gains.size()) / kTopGains;
  if (top < 1) {
    return {"top gains", 0, -1};
  }
  const double part = std::accumulate(gains.begin(), gains.begin() + std::lround(top), 0.0);
  // The few largest gains carry the error.
  return {"top gains", part / whole, part / whole / std::sqrt(2 * top)};
}

/// Of the searches that begin with so many calls that build on none of one another.
void add_best_of_first(const SearchCalls& searches, std::vector<Statistic>& statistics) {
  std::vector<double> best;
  for (const auto& calls : searches) {
    const bool are_first =
        calls.size() >= kFirstCalls &&
        std::all_of(calls.begin(), calls.begin() + kFirstCalls,
                    [](const RecordedCall& call) { return call.state == ParentState::First; });
    if (are_first) {
      best.push_back(gain_of(calls, kFirstCalls));
    }
  }
  if (best.size() >= 2) {
    const MeanAndSpread found = mean_and_spread(best);
    statistics.push_back({"best of 3 first calls", found.mean,
                          found.spread / std::sqrt(static_cast<double>(best.size()))});
  }
}

void add_finals(const SearchCalls& searches, std::vector<Statistic>& statistics) {
  std::vector<double> finals;
  for (const auto& calls : searches) {
    finals.push_back(gain_of(calls, calls.size()));
  }
  const auto count = static_cast<double>(finals.size());
  if (count < 2) {
    return;
  }
  const auto [mean, spread] = mean_and_spread(finals);
  statistics.push_back({"final", mean, spread / std::sqrt(count)});
  statistics.push_back({"spread of finals", spread, spread / std::sqrt(2 * count)});
}

} // namespace

std::vector<Statistic> observe(const SearchCalls& searches) {
  const auto is = [](ParentState state) {
    return [state](const RecordedCall& call) { return state_after(call.outcome.verdict) == state; };
  };
  std::vector<Statistic> statistics{
      share_of_calls("correct", searches, is(ParentState::Correct)),
      share_of_calls("not compiled", searches, is(ParentState::NotCompiled)),
      share_of_calls("wrong", searches, is(ParentState::Wrong)),
      share_of_calls("regressed", searches, [](const RecordedCall& call) {
        return call.is_correct() &&
               call.level < call.best_before + std::log(search::kRegressedFraction);
      })};
  std::size_t longest = 0;
  for (const auto& calls : searches) {
    longest = std::max(longest, calls.size());
  }
  for (std::size_t i = 0; i < kIndexedCalls; ++i) {
    statistics.push_back(hits(fmt::format("hit {}", i + 1), searches, i, i + 1));
  }
  statistics.push_back(hits("hit later", searches, kIndexedCalls, longest));
  for (const std::size_t calls : kGainAfter) {
    if (calls < longest) { // after the last call the share is 1
      statistics.push_back(gain_after(searches, calls));
    }
  }
  statistics.push_back(top_gains(searches));
  add_best_of_first(searches, statistics);
  add_finals(searches, statistics);
  std::erase_if(statistics, [](const Statistic& one) { return one.error < 0; });
  return statistics;
}

} // namespace winnow::lab
