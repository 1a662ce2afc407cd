#include "harness/run/prompts/role_facts.h"

#include "evaluators/evaluation/profile.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

/// Means of values that not every shape has.
class Means {
public:
  void add(const std::string& name, std::optional<double> value) {
    if (value && std::isfinite(*value)) {
      auto& [sum, count] = sums_[name];
      sum += *value;
      ++count;
    }
  }
  std::map<std::string, double> means() const {
    std::map<std::string, double> all;
    for (const auto& [name, sum] : sums_) {
      all[name] = sum.first / sum.second;
    }
    return all;
  }

private:
  std::map<std::string, std::pair<double, int>> sums_;
};

std::optional<double> as_double(std::optional<std::int64_t> value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

void add_profile(const evaluators::ProfiledShape& profiled, Means& means) {
  constexpr double kPercent = 100;
  if (profiled.shape.speed_of_light) {
    means.add("speed_of_light_pct", profiled.shape.speed_of_light->fraction * kPercent);
  }
  for (const auto& [name, counter] : profiled.shape.counters.counters) {
    means.add(name, counter.value);
  }
  const evaluators::LaunchFacts& launch = profiled.launch;
  if (launch.launches == 0) {
    return;
  }
  means.add("launches", static_cast<double>(launch.launches));
  means.add("blocks", launch.blocks);
  means.add("threads_per_block", launch.threads_per_block);
  means.add("registers_per_thread", as_double(launch.registers));
  means.add("shared_bytes_per_block", launch.shared_bytes);
  means.add("blocks_per_multiprocessor", launch.blocks_per_multiprocessor);
  if (launch.occupancy) {
    means.add("theoretical_occupancy_pct", *launch.occupancy * kPercent);
  }
}

} // namespace

std::map<std::string, double> record_facts(const tasks::Evaluation& evaluation) {
  Means means;
  if (evaluation.score_ns > 0) {
    means.add("time_us", evaluation.score_ns / 1000);
  }
  int spilled = 0;
  for (const tasks::KernelResources& kernel : evaluation.build.kernels) {
    spilled = std::max(spilled, kernel.spill_load_bytes + kernel.spill_store_bytes);
  }
  if (!evaluation.build.kernels.empty()) {
    means.add("spill_bytes_per_thread", spilled);
  }
  for (const evaluators::ProfiledShape& profiled : evaluators::profile_of(evaluation)) {
    add_profile(profiled, means);
  }
  return means.means();
}

std::vector<std::string> fact_lines(const std::map<std::string, double>& facts) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : facts) {
    lines.push_back(fmt::format("{} = {:.4g}", name, value));
  }
  return lines;
}

std::vector<store::AdviceScore> judge_scores(std::string_view advice,
                                             const std::map<std::string, double>& parent,
                                             const std::map<std::string, double>& child,
                                             store::RowId child_id) {
  std::vector<store::AdviceScore> scores;
  const auto parsed = nlohmann::json::parse(advice);
  for (const auto& effect : parsed.at("effects")) {
    const std::string metric = effect.at("metric");
    const auto before = parent.find(metric);
    const auto after = child.find(metric);
    if (before == parent.end() || after == child.end() || before->second == 0) {
      continue;
    }
    const double sign = effect.at("direction") == "up" ? 1 : -1;
    const double actual = 100 * (after->second / before->second - 1);
    scores.push_back({child_id, metric, sign * effect.at("percent").get<double>(), actual,
                      sign * actual >= kVisiblePercent});
  }
  return scores;
}

} // namespace winnow::harness
