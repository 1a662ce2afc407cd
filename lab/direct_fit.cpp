#include "lab/direct_fit.h"

#include "base/text.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace winnow::lab {
namespace {

// A share from few calls is drawn towards the share of the landscape before, which counts as so
// many calls.
constexpr double kPriorCalls = 2;
// A speedup at hidden shapes that is lower by more than this counts as slow there.
constexpr double kSlowAtHidden = 0.1;
constexpr std::size_t kLeastToAverage = 3;

struct Mean {
  double sum = 0, squares = 0;
  std::size_t count = 0;
  void add(double value) {
    sum += value;
    squares += value * value;
    ++count;
  }
  bool is_known() const { return count >= kLeastToAverage; }
  double mean() const { return sum / static_cast<double>(count); }
  double deviation() const {
    return std::sqrt(std::max(squares / static_cast<double>(count) - mean() * mean(), 0.0));
  }
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class DirectFit {
public:
  DirectFit(const SearchCalls& searches, const std::string& source, Landscape& landscape)
      : source_(source), landscape_(landscape) {
    for (const auto& calls : searches) {
      for (const RecordedCall& call : calls) {
        all_.push_back(&call);
      }
    }
  }

  void fit_verdicts() {
    std::vector<std::string> counts;
    for (std::size_t state = 0; state < kParentStates; ++state) {
      VerdictShares shares = landscape_.verdicts[state];
      double count = kPriorCalls;
      for (auto& [verdict, share] : shares) {
        share *= kPriorCalls;
      }
      for (const RecordedCall* call : all_) {
        if (call->state == static_cast<ParentState>(state)) {
          shares[call->outcome.verdict] += 1;
          ++count;
        }
      }
      for (auto& [verdict, share] : shares) {
        share /= count;
      }
      landscape_.verdicts[state] = shares;
      counts.push_back(fmt::format("{:.0f} {}", count - kPriorCalls, parent_state_names()[state]));
    }
    set_source("verdicts", fmt::format("{}, and the earlier shares as {:g} calls of each kind",
                                       join(counts, ", "), kPriorCalls));
  }

  void fit_jumps() {
    std::map<std::string, std::pair<double, double>> by_op; // jumps, calls
    for (const RecordedCall* call : all_) {
      if (call->is_correct() && !call->parent_cell.empty()) {
        auto& [jumps, calls] = by_op[call->op];
        jumps += call->outcome.cell != call->parent_cell ? 1 : 0;
        ++calls;
      }
    }
    for (const auto& [op, counted] : by_op) {
      const double before = landscape_.jump_of(op);
      landscape_.jumps[op] =
          (counted.first + kPriorCalls * before) / (counted.second + kPriorCalls);
    }
    if (by_op.empty()) {
      keep("jumps");
    } else {
      set_source("jumps", "other cell than the parent's");
    }
  }

  void fit_tuning() {
    Mean tunable, choices, gap;
    for (const RecordedCall* call : all_) {
      if (!call->is_correct() || call->of_default.speedup <= 0 || !call->is_settled) {
        continue;
      }
      tunable.add(call->choices > 1 ? 1 : 0);
      if (call->choices > 1) {
        choices.add(static_cast<double>(call->choices));
        gap.add(std::log(call->outcome.speedup / call->of_default.speedup));
      }
    }
    if (!gap.is_known()) {
      keep("tuning");
      return;
    }
    landscape_.tuning.tunable = tunable.mean();
    landscape_.tuning.choices =
        std::max<std::size_t>(2, static_cast<std::size_t>(std::lround(choices.mean())));
    landscape_.tuning.gap = std::max(gap.mean(), 0.001);
    set_source("tuning", fmt::format("{} kernels with parameters", gap.count));
  }

  /// Hidden shapes may suit all kernels of a task less than the shown ones, so a loss counts beside
  /// the median of its search.
  void fit_hidden(const SearchCalls& searches) {
    Mean slow, size;
    for (const auto& calls : searches) {
      std::vector<double> losses;
      for (const RecordedCall& call : calls) {
        if (call.is_correct() && call.outcome.hidden_speedup > 0 && call.outcome.speedup > 0) {
          losses.push_back(std::log(call.outcome.speedup / call.outcome.hidden_speedup));
        }
      }
      if (losses.size() < kLeastToAverage) {
        continue;
      }
      const double usual = median(losses);
      for (const double loss : losses) {
        slow.add(loss - usual > kSlowAtHidden ? 1 : 0);
        if (loss - usual > kSlowAtHidden) {
          size.add(loss - usual);
        }
      }
    }
    if (!slow.is_known()) {
      keep("hidden");
      return;
    }
    landscape_.hidden.slow = slow.mean();
    if (size.is_known()) {
      landscape_.hidden.slowdown = size.mean();
    }
    set_source("hidden", fmt::format("{} kernels timed at hidden shapes; slow: by more than {:g} % "
                                     "beside the median of the search",
                                     slow.count, 100 * kSlowAtHidden));
  }

  void fit_measurement() {
    std::vector<double> halves;
    for (const RecordedCall* call : all_) {
      const tasks::Bounds& bounds = call->outcome.speedup_bounds;
      if (call->is_correct() && bounds.low > 0 && bounds.high > bounds.low) {
        halves.push_back(std::log(bounds.high / bounds.low) / 2);
      }
    }
    if (halves.size() < kLeastToAverage) {
      keep("measurement");
      return;
    }
    const double half = median(halves);
    landscape_.measurement = {half, half};
    set_source("measurement", "median interval of the speedup; assumption: a race is as accurate");
  }

  void fit_device() {
    Mean right, wrong, heat;
    for (const RecordedCall* call : all_) {
      const ParentState state = state_after(call->outcome.verdict);
      if (call->of_default.device_seconds > 0 && state == ParentState::Correct) {
        right.add(call->of_default.device_seconds);
      } else if (call->of_default.device_seconds > 0 && state == ParentState::Wrong) {
        wrong.add(call->of_default.device_seconds);
      }
      for (const RecordedHeat& one : call->heats) {
        if (one.turns > 0) {
          heat.add(one.device_seconds / static_cast<double>(one.turns));
        }
      }
    }
    if (!right.is_known()) {
      keep("device");
      return;
    }
    Landscape::Device& device = landscape_.device;
    // The device of `base` may be another one, but a failure costs the same share there.
    device.wrong = wrong.is_known() ? wrong.mean() : device.wrong * right.mean() / device.right;
    device.heat = heat.is_known() ? heat.mean() : device.heat * right.mean() / device.right;
    device.right = right.mean();
    device.spread = right.deviation() / right.mean();
    set_source("device", fmt::format("{} correct and {} wrong kernels, {} heats", right.count,
                                     wrong.count, heat.count));
  }

  void fit_models(const std::vector<ModelCall>& calls) {
    std::map<std::string, std::pair<Mean, Mean>> by_model; // dollars, seconds
    for (const ModelCall& call : calls) {
      auto& [dollars, seconds] = by_model[call.model];
      dollars.add(call.dollars);
      seconds.add(call.seconds);
    }
    std::vector<LabModel> models;
    for (const auto& [name, means] : by_model) {
      if (means.first.sum > 0 && means.second.sum > 0) {
        models.push_back({name.empty() ? "model" : name, means.first.mean(), means.second.mean()});
      }
    }
    if (models.empty()) {
      keep("models");
      return;
    }
    landscape_.models = models;
    for (const LabModel& model : models) {
      set_source("models/" + model.name, "prices and latencies");
    }
  }

  void fit_task(const SearchCalls& searches) {
    Mean structures, light;
    for (const auto& calls : searches) {
      std::set<std::string> cells;
      double best_light = 0;
      for (const RecordedCall& call : calls) {
        if (call.is_correct()) {
          cells.insert(call.outcome.cell);
          best_light = std::max(best_light, call.outcome.speed_of_light);
        }
      }
      if (calls.size() > 1 && !cells.empty()) {
        structures.add(static_cast<double>(cells.size()));
      }
      if (best_light > 0) {
        light.add(best_light);
      }
    }
    if (structures.is_known()) {
      landscape_.task.structures = static_cast<std::size_t>(std::lround(structures.mean()));
    }
    if (light.is_known()) {
      landscape_.task.speed_of_light = std::min(light.mean(), 1.0);
    }
  }

  std::vector<std::string> take_notes() { return std::move(notes_); }

private:
  void set_source(const std::string& section, const std::string& detail) {
    landscape_.sources[section] = source_ + ": " + detail;
  }
  void keep(const std::string& section) {
    notes_.push_back("the records say nothing of [" + section + "]");
  }

  std::string source_;
  Landscape& landscape_;
  std::vector<const RecordedCall*> all_;
  std::vector<std::string> notes_;
};

} // namespace

std::vector<std::string> fit_directly(const SearchCalls& searches,
                                      const std::vector<ModelCall>& calls,
                                      const std::string& source, Landscape& landscape) {
  DirectFit fit(searches, source, landscape);
  fit.fit_verdicts();
  fit.fit_jumps();
  fit.fit_tuning();
  fit.fit_hidden(searches);
  fit.fit_measurement();
  fit.fit_device();
  fit.fit_models(calls);
  fit.fit_task(searches);
  return fit.take_notes();
}

} // namespace winnow::lab
