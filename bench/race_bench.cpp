// Measures how often races of two kernels are wrong, and how many launches they take. Compares them
// with 100 launches of each kernel and the Mann-Whitney test, at the requested error rate and at
// the error rate that the races had. Prints Markdown.
//   race_bench simulate                          on synthetic noise
//   race_bench stored STORE.db --min-samples 30  on the samples of a store, resampled
//   race_bench recorded RACE.json ...            on samples of `winnow race TASK FILE FILE --json`
#include "base/files.h"
#include "evaluators/timing/race_blocks.h"
#include "profiling/statistics/distributions.h"
#include "profiling/statistics/race.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace {

using namespace winnow::profiling;
using Random = std::mt19937_64;

constexpr int kFixedSamples = 100;            // of each kernel
constexpr std::array kGains{1.0, 1.02, 1.05}; // 1.0: both are the same kernel

/// Times of successive launches on one device, for a kernel that takes 1. Multiply them by a
/// kernel's own time.
using Noise = std::function<double()>;
using StartNoise = std::function<Noise()>; ///< the noise of a device at the begin of a race

/// The noise of a device over successive launches of a kernel that takes 1.
struct NoiseModel {
  std::string name;
  double sigma = 0;           ///< standard deviation of the logarithm of a time
  double outlier_share = 0;   ///< share of launches that are 30 % slower
  double drift_a_launch = 0;  ///< relative drift per launch
  double autocorrelation = 0; ///< correlation of the logarithms of successive times
  /// Share of launches at which the clock switches between two rates 5 % apart.
  double switch_share = 0;
  double timer_step = 0; ///< times are multiples of this step, relative to the kernel's time
};

Noise start(const NoiseModel& model, Random& random) {
  return [&random, model, drift = 0.0, previous = 0.0, slow = random() % 2 == 1]() mutable {
    std::uniform_real_distribution<double> uniform;
    std::normal_distribution<double> normal;
    const double rho = model.autocorrelation;
    previous = rho * previous + std::sqrt(1 - rho * rho) * normal(random);
    slow = slow != (uniform(random) < model.switch_share);
    drift += model.drift_a_launch;
    double time = std::exp(model.sigma * previous) * (1 + drift) * (slow ? 1.05 : 1);
    return uniform(random) < model.outlier_share ? 1.3 * time : time;
  };
}

std::vector<NoiseModel> models() {
  std::vector<NoiseModel> all;
  for (const double sigma : {0.002, 0.005, 0.01, 0.02}) {
    all.push_back({fmt::format("lognormal {:g} %", 100 * sigma), sigma});
  }
  all.push_back({"0.5 %, 2 % outliers of +30 %", 0.005, 0.02});
  all.push_back({"0.5 %, drift 5 % over 200 launches", 0.005, 0, 0.05 / 200});
  all.push_back({"0.5 %, drift 5 % over 40 launches", 0.005, 0, 0.05 / 40});
  all.push_back({"0.5 %, autocorrelation 0.5", 0.005, 0, 0, 0.5});
  all.push_back({"0.5 %, clocks 5 % apart, 100 launches each", 0.005, 0, 0, 0, 0.01});
  all.push_back({"0.1 %, timer steps of 2 %", 0.001, 0, 0, 0, 0, 0.02});
  all.push_back({"0.2 %, timer steps of 0.64 %", 0.002, 0, 0, 0, 0, 0.0064});
  all.push_back({"0.5 %, timer steps of 0.64 %", 0.005, 0, 0, 0, 0, 0.0064});
  return all;
}

struct Settings {
  RaceRules rules = winnow::evaluators::kRaceRules;
  int races = 10'000;
  std::uint64_t seed = 1;
};

struct Outcome {
  RaceVerdict verdict = RaceVerdict::Undecided;
  double launches = 0;
};

/// One launch of a kernel that takes `kernel`, measured by a timer with this step.
double timed(const Noise& noise, double kernel, double step) {
  const double time = kernel * noise();
  return step > 0 ? step * std::round(time / step) : time;
}

/// A race of kernels that take `challenger` and 1, with one shape for each kind of noise.
Outcome race(const std::vector<Noise>& shapes, double challenger, double step,
             const RaceRules& rules) {
  Race result(rules, shapes.size());
  while (result.verdict() == RaceVerdict::Undecided) {
    for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
      const Noise& noise = shapes[shape];
      TwoLaunches of_challenger{}, of_other{};
      of_challenger[0] = timed(noise, challenger, step);
      of_other[0] = timed(noise, 1, step);
      of_other[1] = timed(noise, 1, step);
      of_challenger[1] = timed(noise, challenger, step);
      result.add(of_challenger, of_other, shape);
    }
  }
  return {result.verdict(), 4.0 * static_cast<double>(result.blocks())};
}

/// The p-value of the Mann-Whitney test for "a is smaller than b", by the normal approximation with
/// ties.
double mann_whitney(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<std::pair<double, bool>> all;
  for (const double value : a) {
    all.emplace_back(value, true);
  }
  for (const double value : b) {
    all.emplace_back(value, false);
  }
  std::sort(all.begin(), all.end());
  const auto count = static_cast<double>(all.size());
  double rank_sum = 0, ties = 0;
  for (std::size_t first = 0; first < all.size();) {
    std::size_t end = first;
    double of_a = 0;
    for (; end < all.size() && all[end].first == all[first].first; ++end) {
      of_a += all[end].second ? 1 : 0;
    }
    const auto same = static_cast<double>(end - first);
    rank_sum += of_a * (static_cast<double>(first + end + 1) / 2);
    ties += same * same * same - same;
    first = end;
  }
  const auto sizes = static_cast<double>(a.size()), others = static_cast<double>(b.size());
  const double surplus = rank_sum - sizes * (count + 1) / 2;
  const double variance = sizes * others / 12 * (count + 1 - ties / (count * (count - 1)));
  return variance > 0 ? normal_upper_tail(-surplus / std::sqrt(variance)) : 1;
}

/// The p-value for "the challenger is no faster" by the Mann-Whitney test on 100 launches of each
/// kernel. The launches alternate, or one kernel follows the other.
double fixed_p(const Noise& noise, double challenger, double step, bool by_turns) {
  std::vector<double> of_challenger, of_other;
  for (int i = 0; i < 2 * kFixedSamples; ++i) {
    if (by_turns ? i % 2 == 0 : i < kFixedSamples) {
      of_challenger.push_back(timed(noise, challenger, step));
    } else {
      of_other.push_back(timed(noise, 1, step));
    }
  }
  return mann_whitney(of_challenger, of_other);
}

/// How many of `races` ended with "faster", and how many launches they took.
struct Tally {
  int races = 0;
  std::array<int, kGains.size()> faster{};
  int slower = 0; ///< of two kernels that are the same
  std::array<double, kGains.size()> launches{};
  /// Launches alternate; one value for each race.
  std::array<std::vector<double>, kGains.size()> fixed_p;
  std::vector<double> one_after_other_p; ///< both are the same kernel

  void add(const Tally& more) {
    races += more.races;
    slower += more.slower;
    append(one_after_other_p, more.one_after_other_p);
    for (std::size_t i = 0; i < kGains.size(); ++i) {
      faster.at(i) += more.faster.at(i);
      launches.at(i) += more.launches.at(i);
      append(fixed_p.at(i), more.fixed_p.at(i));
    }
  }

private:
  static void append(std::vector<double>& to, const std::vector<double>& more) {
    to.insert(to.end(), more.begin(), more.end());
  }
};

Tally tally(const std::vector<StartNoise>& shapes, double step, const Settings& settings) {
  Tally result;
  result.races = settings.races;
  for (int i = 0; i < settings.races; ++i) {
    for (std::size_t g = 0; g < kGains.size(); ++g) {
      std::vector<Noise> noises;
      for (const StartNoise& start : shapes) {
        noises.push_back(start());
      }
      const double challenger = 1 / kGains.at(g);
      const Outcome outcome = race(noises, challenger, step, settings.rules);
      result.faster.at(g) += outcome.verdict == RaceVerdict::Faster ? 1 : 0;
      result.slower += g == 0 && outcome.verdict == RaceVerdict::Slower ? 1 : 0;
      result.launches.at(g) += outcome.launches;
      result.fixed_p.at(g).push_back(fixed_p(shapes.front()(), challenger, step, true));
    }
    result.one_after_other_p.push_back(fixed_p(shapes.front()(), 1, step, false));
  }
  return result;
}

double percent_below(const std::vector<double>& values, double limit) {
  const auto below =
      std::count_if(values.begin(), values.end(), [&](double value) { return value < limit; });
  return 100 * static_cast<double>(below) / static_cast<double>(values.size());
}

/// The value below which this share of `p_values` lies, or less if several values are equal.
double threshold(std::vector<double> p_values, double share) {
  const auto rank = static_cast<std::ptrdiff_t>(share * static_cast<double>(p_values.size()));
  const auto at =
      p_values.begin() + std::min(rank, static_cast<std::ptrdiff_t>(p_values.size()) - 1);
  std::nth_element(p_values.begin(), at, p_values.end());
  return *at;
}

void print_head(std::string_view first, const Settings& settings) {
  fmt::print("{} races a row, error rate {:g} %, margin {:g} %, {} to {} blocks of 4 launches. "
             "Fixed: {} launches.\n\n",
             settings.races, 100 * settings.rules.error_rate, 100 * settings.rules.tie_margin,
             settings.rules.min_blocks, settings.rules.max_blocks, 2 * kFixedSamples);
  fmt::print(
      "| {} | race A/A: faster % | slower % | launches | +2 %: missed % | launches | +5 %: missed "
      "% | "
      "launches | fixed, by turns: A/A false % | +2 %: missed % at the race's A/A rate | +5 % | "
      "fixed, one after the other: A/A false % "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      first);
}

void print_row(const std::string& name, const Tally& tally, double error_rate,
               bool with_fixed = true) {
  const auto percent = [&](int count) { return 100.0 * count / tally.races; };
  fmt::print("| {} | {:.2f} | {:.2f} | {:.1f} ", name, percent(tally.faster[0]),
             percent(tally.slower), tally.launches[0] / tally.races);
  for (std::size_t i = 1; i < kGains.size(); ++i) {
    fmt::print("| {:.2f} | {:.1f} ", 100 - percent(tally.faster.at(i)),
               tally.launches.at(i) / tally.races);
  }
  if (with_fixed) {
    const double equal = threshold(tally.fixed_p[0], percent(tally.faster[0]) / 100);
    fmt::print(
        "| {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n", percent_below(tally.fixed_p[0], error_rate),
        100 - percent_below(tally.fixed_p[1], equal), 100 - percent_below(tally.fixed_p[2], equal),
        percent_below(tally.one_after_other_p, error_rate));
  } else {
    fmt::print("| | | | |\n");
  }
  std::fflush(stdout);
}

int simulate(const Settings& settings) {
  Random random(settings.seed);
  print_head("noise", settings);
  for (const NoiseModel& model : models()) {
    const StartNoise noise = [&] { return start(model, random); };
    print_row(model.name, tally({noise}, model.timer_step, settings), settings.rules.error_rate);
  }
  std::vector<StartNoise> shapes;
  for (const double sigma : {0.002, 0.005, 0.01, 0.02}) {
    shapes.push_back([sigma, &random] { return start({"", sigma}, random); });
  }
  print_row("4 shapes of 0.2, 0.5, 1, 2 %", tally(shapes, 0, settings), settings.rules.error_rate,
            false);
  return 0;
}

/// Samples a series of launches: runs of successive samples that begin at random places. The series
/// is treated as a ring (circular moving-block bootstrap, Politis and Romano 1992).
Noise resampled(const std::vector<double>& series, std::size_t run, Random& random) {
  return [&series, &random, run, left = std::size_t{0}, next = std::size_t{0}]() mutable {
    if (left == 0) {
      left = run;
      next = static_cast<std::size_t>(random() % series.size());
    }
    --left;
    next = (next + 1) % series.size();
    return series[next];
  };
}

struct Series {
  std::string name;
  std::vector<double> times_ns;
};

std::vector<Series> stored_series(const std::string& path) {
  const SQLite::Database database(path, SQLite::OPEN_READONLY);
  SQLite::Statement query(database, "SELECT case_id, kernel, times_ns FROM sample_series");
  std::vector<Series> all;
  while (query.executeStep()) {
    Series series;
    series.name =
        fmt::format("case {}, {}", query.getColumn(0).getInt64(), query.getColumn(1).getString());
    for (const double time : nlohmann::json::parse(query.getColumn(2).getString())) {
      if (std::isfinite(time) && time > 0) {
        series.times_ns.push_back(time);
      }
    }
    all.push_back(std::move(series));
  }
  return all;
}

/// Launches of two equal kernels, in about the order in which they were timed.
std::vector<Series> recorded_series(const std::vector<std::string>& paths) {
  constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;
  std::vector<Series> all;
  for (const std::string& path : paths) {
    const nlohmann::json race = nlohmann::json::parse(winnow::read_file(path, kMaxBytes));
    for (const nlohmann::json& shape : race.at("shapes")) {
      const auto a = shape.at("a_samples_ns").get<std::vector<double>>();
      const auto b = shape.at("b_samples_ns").get<std::vector<double>>();
      Series series{path, {}};
      for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        series.times_ns.insert(series.times_ns.end(), {a[i], b[i]});
      }
      all.push_back(std::move(series));
    }
  }
  return all;
}

std::string duration_class(std::vector<double> times_ns) {
  const auto middle = times_ns.begin() + static_cast<std::ptrdiff_t>(times_ns.size() / 2);
  std::nth_element(times_ns.begin(), middle, times_ns.end());
  return *middle < 20e3 ? "1: below 20 us" : *middle < 1e6 ? "2: 20 us to 1 ms" : "3: above 1 ms";
}

int resample(std::vector<Series> all, std::size_t min_samples, std::size_t run,
             const Settings& settings) {
  std::erase_if(all, [&](const Series& series) {
    return series.times_ns.size() < std::max<std::size_t>(1, min_samples);
  });
  if (all.empty()) {
    fmt::print(stderr, "race_bench: no series of {} samples or more; try --min-samples\n",
               min_samples);
    return 1;
  }
  Random random(settings.seed);
  std::map<std::string, std::pair<int, Tally>> classes;
  Tally worst;
  std::string worst_name;
  for (const Series& series : all) {
    const StartNoise noise = [&] { return resampled(series.times_ns, run, random); };
    const Tally one = tally({noise}, 0, settings);
    auto& [count, sum] = classes[duration_class(series.times_ns)];
    ++count;
    sum.add(one);
    if (worst.races == 0 || one.faster[0] > worst.faster[0]) {
      worst = one;
      worst_name = series.name;
    }
  }
  print_head("median time: series", settings);
  Tally total;
  for (const auto& [name, of_class] : classes) {
    print_row(fmt::format("{}: {}", name.substr(3), of_class.first), of_class.second,
              settings.rules.error_rate);
    total.add(of_class.second);
  }
  print_row(fmt::format("all: {}", all.size()), total, settings.rules.error_rate);
  print_row("most false promotions: " + worst_name, worst, settings.rules.error_rate);
  return 0;
}

int run(int argc, char** argv) {
  CLI::App app("How often races of two kernels are wrong, and what they cost.");
  Settings settings;
  RaceRules& rules = settings.rules;
  std::size_t min_samples = 30, run_length = 8;
  std::string store;
  std::vector<std::string> files;
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--races", settings.races, "a row or series")->check(CLI::Range(1, 1'000'000));
  app.add_option("--seed", settings.seed);
  app.add_option("--error-rate", rules.error_rate)->check(CLI::Range(1e-6, 0.4));
  app.add_option("--hopeless", rules.hopeless)->check(CLI::Range(0.0, 0.4));
  app.add_option("--tie-margin", rules.tie_margin)->check(CLI::Range(0.0, 0.5));
  app.add_option("--noise-floor", rules.noise_floor)->check(CLI::Range(0.0, 0.5));
  app.add_option("--min-blocks", rules.min_blocks)->check(CLI::Range(2, 1000));
  app.add_option("--max-blocks", rules.max_blocks)->check(CLI::Range(2, 1000));
  app.add_subcommand("simulate", "on synthetic noise");
  CLI::App* from_store = app.add_subcommand("stored", "on a store's own samples, resampled");
  from_store->add_option("store", store)->required()->check(CLI::ExistingFile);
  CLI::App* from_files = app.add_subcommand("recorded", "on what `winnow race --json` wrote");
  from_files->add_option("files", files)->required()->check(CLI::ExistingFile);
  for (CLI::App* resampling : {from_store, from_files}) {
    resampling->add_option("--min-samples", min_samples, "that a series must have");
    resampling->add_option("--run-length", run_length, "successive samples kept together")
        ->check(CLI::Range(1, 1000));
  }
  CLI11_PARSE(app, argc, argv);
  if (from_store->parsed()) {
    return resample(stored_series(store), min_samples, run_length, settings);
  }
  return from_files->parsed() ? resample(recorded_series(files), min_samples, run_length, settings)
                              : simulate(settings);
}

} // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "race_bench: {}\n", failure.what());
    return 1;
  }
}
