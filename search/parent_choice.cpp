#include "search/parent_choice.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace winnow::search {
namespace {

using tasks::Verdict;

constexpr double kExploration = 1;

/// The options by descending score.
std::vector<const Individual*> by_score(const std::vector<ParentOption>& options,
                                        const std::function<double(std::size_t)>& score_of) {
  std::vector<std::pair<double, const Individual*>> scored;
  scored.reserve(options.size());
  for (std::size_t rank = 0; rank < options.size(); ++rank) {
    scored.emplace_back(score_of(rank), options[rank].kernel);
  }
  std::stable_sort(scored.begin(), scored.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const Individual*> kernels;
  kernels.reserve(scored.size());
  for (const auto& [score, kernel] : scored) {
    kernels.push_back(kernel);
  }
  return kernels;
}

/// Draws without replacement (Efraimidis and Spirakis 2006). `log_weight`: of the option of a rank.
std::vector<const Individual*> drawn(const std::vector<ParentOption>& options, Draws& draws,
                                     const std::function<double(std::size_t)>& log_weight) {
  return by_score(options, [&](std::size_t rank) {
    return log_weight(rank) - std::log(-std::log1p(-draws.uniform()));
  });
}

/// GPU Forecasters' max-reward PUCT: Q + c P sqrt(1 + T) / (1 + visits). Q is the best value of
/// the kernel and its children, and P falls with the kernel's rank.
std::vector<const Individual*> by_puct(const std::vector<ParentOption>& options,
                                       std::size_t calls) {
  if (options.empty()) {
    return {};
  }
  const double scale =
      std::max(value(*options.front().kernel) - value(*options.back().kernel), kWorthwhileGain);
  const double places = static_cast<double>(options.size());
  const double explored = std::sqrt(1.0 + static_cast<double>(calls));
  return by_score(options, [&](std::size_t rank) {
    const double prior = 2 * (places - static_cast<double>(rank)) / (places * (places + 1));
    return options[rank].quality +
           kExploration * scale * prior * explored / (1 + options[rank].visits);
  });
}

} // namespace

std::vector<const Individual*> by_preference(ArchivePolicy::Parents rule,
                                             const std::vector<ParentOption>& options,
                                             std::size_t calls, Draws& draws) {
  const auto count = static_cast<double>(options.size());
  switch (rule) {
  case ArchivePolicy::Parents::Puct:
    return by_puct(options, calls);
  case ArchivePolicy::Parents::Rank: // EvoEngineer's chances: 1 / (rank + number)
    return drawn(options, draws,
                 [&](std::size_t rank) { return -std::log(static_cast<double>(rank) + count); });
  case ArchivePolicy::Parents::Softmax:
    return drawn(options, draws, [&](std::size_t rank) { return fitness(*options[rank].kernel); });
  case ArchivePolicy::Parents::Fastest:
  case ArchivePolicy::Parents::Bands:
    return by_score(options, [](std::size_t rank) { return -static_cast<double>(rank); });
  }
  return {};
}

Contrast drawn_contrast(const std::vector<ParentOption>& options, Draws& draws) {
  std::map<int, std::vector<const Individual*>> bands; // slowest first
  for (const ParentOption& option : options) {
    bands[static_cast<int>(std::floor(value(*option.kernel) / std::log(kSlowerBand)))].push_back(
        option.kernel);
  }
  std::vector<std::pair<double, int>> keys; // the softmax of a band's speed
  for (const auto& [band, kernels] : bands) {
    const double speed = std::exp(band * std::log(kSlowerBand));
    keys.emplace_back(speed - std::log(-std::log1p(-draws.uniform())), band);
  }
  std::sort(keys.rbegin(), keys.rend());
  if (keys.size() < 2) {
    return {};
  }
  const auto [slower, faster] = std::minmax(keys[0].second, keys[1].second);
  const auto one_of = [&](int band) { return bands[band][draws.index(bands[band].size())]; };
  const Individual* fast = one_of(faster);
  return {fast, one_of(slower)};
}

double fitness(const Individual& individual) {
  switch (outcome_of(individual).verdict) {
  case Verdict::Correct:
    return 5 + std::exp(value(individual));
  case Verdict::CompileError:
  case Verdict::Unsupported:
    return 1;
  case Verdict::LaunchError:
  case Verdict::Timeout:
  case Verdict::Crashed:
  case Verdict::OutOfBounds:
  case Verdict::OverLimit:
    return 2;
  case Verdict::ModifiedInput:
  case Verdict::UnwrittenOutput:
  case Verdict::Wrong:
  case Verdict::Unstable:
  case Verdict::LowPrecision:
  case Verdict::WrongUnseen:
  case Verdict::Implausible:
    return 4;
  case Verdict::NotJudged:
  case Verdict::BadReply:
  case Verdict::BadPlan:
  case Verdict::Refused:
  case Verdict::Infrastructure:
    return 0;
  }
  return 0;
}

} // namespace winnow::search
