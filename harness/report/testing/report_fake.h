#pragma once

#include "evaluators/evaluation/profile.h"
#include "tasks/result/evaluation.h"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace winnow::harness {

/// A correct kernel on two shapes. The baseline takes twice as long. If `rival_factor` is not 0, a
/// rival takes `rival_factor` times as long. All times vary from turn to turn in the same way, by a
/// thousandth.
inline tasks::Evaluation timed_evaluation(double microseconds, double rival_factor = 0) {
  tasks::Evaluation evaluation;
  evaluation.verdict = tasks::Verdict::Correct;
  evaluation.device = "cuda";
  evaluation.device_name = "made-up GPU";
  evaluation.isolation = "rlimits";
  for (const std::string number : {"1", "2"}) {
    tasks::CaseResult& timed = evaluation.cases.emplace_back();
    timed.stage = tasks::Stage::Time;
    timed.set = tasks::ShapeSet::Search;
    timed.verdict = tasks::Verdict::Correct;
    timed.shape_id = "search/" + number;
    timed.shape = "n=" + number + "000";
    for (int i = 0; i < 20; ++i) {
      const double ns = 1000 * microseconds * (1 + 0.001 * (i % 3));
      timed.samples_ns.push_back(ns);
      timed.baseline_samples_ns.push_back(2 * ns);
      if (rival_factor > 0) {
        timed.incumbent_samples_ns.push_back(rival_factor * ns);
      }
    }
    timed.median_ns = tasks::median(timed.samples_ns);
    timed.baseline_median_ns = 2 * timed.median_ns;
    timed.median_bounds_ns = {timed.median_ns * 0.999, timed.median_ns * 1.001};
    timed.speedup = 2;
    timed.speedup_bounds = {1.98, 2.02};
    timed.conditions.discarded = 3;
    timed.conditions.median_clock_mhz = 1980;
    timed.conditions.temperature_c = 41;
  }
  evaluation.speedup = 2;
  evaluation.speedup_bounds = {1.98, 2.02};
  return evaluation;
}

/// The profile of a shape, with all fields set.
inline evaluators::ProfiledShape full_profile(const std::string& number, double dram_pct) {
  evaluators::ProfiledShape profile;
  profile.shape_id = "search/" + number;
  profile.shape.shape = "n=" + number + "000";
  profile.shape.time_ns = 10'000;
  profile.shape.speed_of_light = profiling::SpeedOfLight{};
  profile.shape.speed_of_light->fraction = 0.87;
  profile.shape.speed_of_light->bound = "DRAM's peak";
  profile.shape.speed_of_light->rate = 4.8e12;
  profile.shape.speed_of_light->least_ns = 8700;
  profile.shape.speed_of_light->copy_ns = 9900;
  profile.shape.speed_of_light->launch_ns = 2100;
  profile.shape.findings = {
      {profiling::Limiter::Dram, "DRAM throughput is high", {"dram_throughput_pct"}, dram_pct}};
  profile.shape.counters.provider = "cupti";
  profile.shape.counters.passes = 7;
  profile.shape.counters.collect_ms = 120;
  profile.shape.counters.counters = {{"dram_throughput_pct", {dram_pct, ""}},
                                     {"dram_read_bytes", {4e6, ""}},
                                     {"stall_long_scoreboard", {12.3, ""}},
                                     {"barriers", {262144, ""}}};
  profile.launch.kernel = "axpy";
  profile.launch.launches = 1;
  profile.launch.blocks = 4096;
  profile.launch.threads_per_block = 256;
  profile.launch.registers = 40;
  profile.launch.occupancy = 0.75;
  profile.energy.joules_per_launch = 0.0123;
  profile.energy.average_power_w = 350;
  profile.energy.method = "NVML total energy over 1234 launches in 1.02 s";
  return profile;
}

inline void add_profiles(tasks::Evaluation& evaluation,
                         const std::vector<evaluators::ProfiledShape>& profiles) {
  evaluation.profile = nlohmann::json(profiles).dump();
}

} // namespace winnow::harness
