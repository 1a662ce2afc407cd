#include "search/response_surface.h"

#include "base/text.h"
#include "search/log_json.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace winnow::search {
namespace {

using nlohmann::json;

/// The speed of a trial at one shape or overall; 0: not timed.
using SpeedOf = std::function<double(const Trial&)>;

SpeedOf speed_at(std::size_t shape) {
  return [shape](const Trial& trial) {
    return shape < trial.speeds.size() ? trial.speeds[shape] : 0.0;
  };
}

bool has_failed(const Trial& trial) {
  return trial.verdict != tasks::Verdict::NotJudged && trial.verdict != tasks::Verdict::Correct;
}

std::vector<Trial> timed_trials(const std::vector<Trial>& trials) {
  std::vector<Trial> timed;
  std::copy_if(trials.begin(), trials.end(), std::back_inserter(timed),
               [](const Trial& trial) { return !has_failed(trial) && overall(trial) > 0; });
  return timed;
}

Extremes extremes(const std::vector<Trial>& trials, const tasks::ParameterChoice& usual,
                  const SpeedOf& speed_of) {
  Extremes result;
  result.usual.choice = usual;
  for (const Trial& trial : trials) {
    const double speed = speed_of(trial);
    if (!(speed > 0)) {
      continue;
    }
    if (speed > result.best.speed) {
      result.best = {trial.choice, speed};
    }
    if (result.worst.speed == 0 || speed < result.worst.speed) {
      result.worst = {trial.choice, speed};
    }
    if (trial.choice == usual) {
      result.usual.speed = speed;
    }
  }
  return result;
}

/// The mean log(speed) of each value of the parameter that was timed.
std::map<std::int64_t, double> value_effects(const std::vector<Trial>& trials,
                                             const std::string& name, const SpeedOf& speed_of) {
  std::map<std::int64_t, std::vector<double>> logs;
  for (const Trial& trial : trials) {
    const auto value = trial.choice.find(name);
    if (const double speed = speed_of(trial); value != trial.choice.end() && speed > 0) {
      logs[value->second].push_back(std::log(speed));
    }
  }
  std::map<std::int64_t, double> means;
  for (const auto& [value, all] : logs) {
    means[value] = std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
  }
  return means;
}

bool is_slower(const std::pair<const std::int64_t, double>& a,
               const std::pair<const std::int64_t, double>& b) {
  return a.second < b.second;
}

ParameterEffect effect_of(const std::vector<Trial>& trials, const std::string& name,
                          std::size_t shapes) {
  ParameterEffect effect;
  effect.name = name;
  const auto means = value_effects(trials, name, overall);
  if (means.empty()) {
    return effect;
  }
  const auto [slowest, fastest] = std::minmax_element(means.begin(), means.end(), is_slower);
  effect.ratio = std::exp(fastest->second - slowest->second);
  effect.fastest = fastest->first;
  effect.slowest = slowest->first;
  double log_gain = 0;
  for (std::size_t shape = 0; shape < shapes; ++shape) {
    const auto at_shape = value_effects(trials, name, speed_at(shape));
    const auto best = std::max_element(at_shape.begin(), at_shape.end(), is_slower);
    effect.best_by_shape.push_back(best == at_shape.end() ? effect.fastest : best->first);
    if (const auto fixed = at_shape.find(effect.fastest); fixed != at_shape.end()) {
      log_gain += (best->second - fixed->second) / static_cast<double>(shapes);
    }
  }
  effect.best_differs =
      std::set<std::int64_t>(effect.best_by_shape.begin(), effect.best_by_shape.end()).size() > 1;
  effect.gain_by_shape = std::exp(log_gain);
  return effect;
}

std::vector<ParameterEffect> effects_of(const std::vector<Trial>& trials, std::size_t shapes) {
  std::vector<ParameterEffect> effects;
  if (!trials.empty()) {
    for (const auto& [name, value] : trials.front().choice) {
      effects.push_back(effect_of(trials, name, shapes));
    }
  }
  std::stable_sort(
      effects.begin(), effects.end(),
      [](const ParameterEffect& a, const ParameterEffect& b) { return a.ratio > b.ratio; });
  return effects;
}

// Writes the lines for people.

constexpr std::size_t kMostNamedEffects = 4;
constexpr std::size_t kMostNamedShapes = 6;
constexpr std::size_t kMaxName = 32;
constexpr std::size_t kMaxChoice = 90;
constexpr double kLittle = 1.05; // a parameter below this ratio matters little
constexpr double kNotableGain = 1.02;

bool varied(const ParameterEffect& effect) {
  return effect.fastest != effect.slowest;
}

class Lines {
public:
  explicit Lines(const ResponseSurface& surface) : surface_(surface) {
    for (const ParameterEffect& effect : surface.effects) {
      if (varied(effect)) {
        effects_.push_back(&effect);
      }
    }
  }

  std::vector<std::string> all() {
    add_effects();
    add_extremes();
    add_shapes();
    add_differing();
    add_failures();
    return std::move(lines_);
  }

private:
  static std::string name_of(const ParameterEffect& effect) {
    return shortened(effect.name, kMaxName);
  }

  std::string choice_text(const tasks::ParameterChoice& choice) const {
    std::string text;
    std::size_t left_out = 0;
    for (const ParameterEffect* effect : effects_) {
      const std::string part =
          fmt::format("{}{}={}", text.empty() ? "" : " ", name_of(*effect),
                      choice.count(effect->name) == 0 ? 0 : choice.at(effect->name));
      if (left_out == 0 && text.size() + part.size() <= kMaxChoice) {
        text += part;
      } else {
        ++left_out;
      }
    }
    return left_out == 0 ? text : fmt::format("{} and {} more", text, left_out);
  }

  void add_effects() {
    if (effects_.empty()) {
      return;
    }
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < std::min(effects_.size(), kMostNamedEffects); ++i) {
      parts.push_back(effect_text(i));
    }
    if (const std::size_t named = parts.size(); named < effects_.size()) {
      parts.push_back(
          fmt::format("{} more at most {:.2f}x", effects_.size() - named, effects_[named]->ratio));
    }
    lines_.push_back(join(parts, ", "));
  }

  std::string effect_text(std::size_t index) const {
    const ParameterEffect& effect = *effects_[index];
    if (effect.ratio < kLittle) {
      return fmt::format("{}{} little ({:.2f}x)", name_of(effect), index == 0 ? " matters" : "",
                         effect.ratio);
    }
    const std::string_view verb = index > 0             ? ""
                                  : effects_.size() > 1 ? " matters most"
                                                        : " matters";
    return fmt::format("{}{} ({:.2f}x between {} and {})", name_of(effect), verb, effect.ratio,
                       effect.fastest, effect.slowest);
  }

  void add_extremes() {
    const Extremes& overall = surface_.overall;
    if (surface_.timed == 0) {
      lines_.push_back("no choice was timed");
    } else if (effects_.empty()) {
      lines_.push_back(surface_.timed == 1 ? "only one choice was timed"
                                           : "no parameter varied among the timed choices");
    } else {
      lines_.push_back(fmt::format("best overall {}; worst {}: {:.2f}x", best_text(overall),
                                   choice_text(overall.worst.choice), overall.worst.speed));
    }
  }

  std::string best_text(const Extremes& extremes) const {
    const std::string choice = choice_text(extremes.best.choice);
    return extremes.best.choice == extremes.usual.choice
               ? fmt::format("{} (the default)", choice)
               : fmt::format("{}: {:.2f}x the default", choice, extremes.best.speed);
  }

  void add_shapes() {
    const std::vector<Extremes>& shapes = surface_.by_shape;
    if (effects_.empty() || shapes.size() < 2) {
      return;
    }
    if (std::all_of(shapes.begin(), shapes.end(), [&](const Extremes& shape) {
          return shape.best.choice == surface_.overall.best.choice;
        })) {
      lines_.push_back("the same choice is best at every shape");
      return;
    }
    for (std::size_t i = 0; i < std::min(shapes.size(), kMostNamedShapes); ++i) {
      if (shapes[i].best.speed > 0) {
        lines_.push_back(fmt::format("at {}: best {}", shortened(surface_.shapes[i], kMaxChoice),
                                     best_text(shapes[i])));
      }
    }
    if (shapes.size() > kMostNamedShapes) {
      lines_.push_back(fmt::format("and {} more shapes", shapes.size() - kMostNamedShapes));
    }
  }

  void add_differing() {
    std::vector<std::string> parts;
    for (const ParameterEffect* effect : effects_) {
      if (effect->gain_by_shape >= kNotableGain && parts.size() < kMostNamedEffects) {
        parts.push_back(fmt::format("{} ({:.2f}x)", name_of(*effect), effect->gain_by_shape));
      }
    }
    if (!parts.empty()) {
      lines_.push_back("gain if chosen by shape: " + join(parts, ", "));
    }
  }

  void add_failures() {
    std::vector<std::pair<int, std::string>> reasons;
    int failed = 0;
    for (const auto& [verdict, count] : surface_.failed) {
      reasons.emplace_back(-count, tasks::to_string(verdict));
      failed += count;
    }
    std::sort(reasons.begin(), reasons.end());
    std::vector<std::string> parts;
    for (const auto& [negative_count, verdict] : reasons) {
      parts.push_back(fmt::format("{} {}", -negative_count, verdict));
    }
    if (failed > 0) {
      lines_.push_back(fmt::format("{} of {} choices failed: {}", failed, surface_.tried,
                                   shortened(join(parts, ", "), 2 * kMaxChoice)));
    }
  }

  const ResponseSurface& surface_;
  std::vector<const ParameterEffect*> effects_; ///< of the parameters that varied
  std::vector<std::string> lines_;
};

json json_of(const Response& response) {
  return {{"parameters", response.choice}, {"speed", response.speed}};
}

json json_of(const Extremes& extremes) {
  return {{"best", json_of(extremes.best)},
          {"default", json_of(extremes.usual)},
          {"worst", json_of(extremes.worst)}};
}

} // namespace

ResponseSurface response_surface(const std::vector<Trial>& trials,
                                 std::vector<std::string> shapes) {
  ResponseSurface surface;
  surface.tried = static_cast<int>(trials.size());
  for (const Trial& trial : trials) {
    if (has_failed(trial)) {
      ++surface.failed[trial.verdict];
    }
  }
  const std::vector<Trial> timed = timed_trials(trials);
  surface.timed = static_cast<int>(timed.size());
  const tasks::ParameterChoice usual =
      trials.empty() ? tasks::ParameterChoice{} : trials.front().choice;
  surface.overall = extremes(timed, usual, overall);
  for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
    surface.by_shape.push_back(extremes(timed, usual, speed_at(shape)));
  }
  surface.effects = effects_of(timed, shapes.size());
  surface.shapes = std::move(shapes);
  return surface;
}

std::vector<std::string> surface_lines(const ResponseSurface& surface) {
  return Lines(surface).all();
}

void to_json(json& json, const ResponseSurface& surface) {
  json = {{"tried", surface.tried},   {"timed", surface.timed},
          {"failed", json::object()}, {"overall", json_of(surface.overall)},
          {"shapes", json::array()},  {"parameters", surface.effects}};
  for (const auto& [verdict, count] : surface.failed) {
    json["failed"][std::string(tasks::to_string(verdict))] = count;
  }
  for (std::size_t shape = 0; shape < surface.shapes.size(); ++shape) {
    auto written = json_of(surface.by_shape[shape]);
    written["shape"] = surface.shapes[shape];
    json["shapes"].push_back(std::move(written));
  }
}

} // namespace winnow::search
