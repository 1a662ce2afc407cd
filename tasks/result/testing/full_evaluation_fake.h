#pragma once

#include "tasks/result/evaluation.h"

#include <cstdint>

namespace winnow::tasks::test {

/// An evaluation in which no field has its default.
inline Evaluation full_evaluation() {
  CaseResult one;
  one.stage = Stage::Time;
  one.shape_id = "promotion/1";
  one.set = ShapeSet::Promotion;
  one.shape = "n=1000";
  one.seed = ~std::uint64_t{0};
  one.verdict = Verdict::Wrong;
  one.detail = "3 of 9 elements";
  one.mismatch = {"c", 3, 9, 4, "(row 1)", 1.5, 1.25, 1e-6, 2.5e5, "every row from 1"};
  one.max_error_ratio = 1.0 / 3;
  one.rms_error_ratio = 0.125;
  one.samples_ns = {10.5, 1e300};
  one.baseline_samples_ns = {20};
  one.incumbent_samples_ns = {30};
  one.warm_samples_ns = {5e-324};
  one.median_ns = 10.5;
  one.baseline_median_ns = 20;
  one.median_bounds_ns = {9, 11};
  one.speedup = 1.9;
  one.speedup_bounds = {1.8, 2};
  one.conditions = {3, 2, "converged", 1980, 2619, 41, 300, {"power"}, 1, -0.01, true};
  one.libraries = {{"cublaslt", {7}, 7, 0.5, true, "none", false}};
  one.prepare_ns = 12;

  Evaluation evaluation;
  evaluation.verdict = Verdict::Correct;
  evaluation.stage = Stage::Done;
  evaluation.detail = "caf\xc3\xa9";
  evaluation.notes = {"a note"};
  evaluation.parameters = {{"TILE", 32}};
  evaluation.build = {"d1",
                      "clang++ 14.0.6",
                      true,
                      0.1,
                      "a log",
                      "sm_90a",
                      "d2",
                      {{"k<1>", 32, 4, 8, 16, 1024}},
                      {{FindingKind::Nanosleep, "sleeps"}},
                      {"tensor cores"},
                      12.5,
                      2.5};
  evaluation.cases = {one};
  evaluation.speedup = 1.9;
  evaluation.speedup_bounds = {1.8, 2};
  evaluation.score_ns = 10.5;
  evaluation.hidden_speedup = 1.7;
  evaluation.hidden_race_ratio = 1.1;
  evaluation.suspended = {"incumbent", "a timed launch was wrong"};
  evaluation.promoted = false;
  evaluation.race = {"d3", "faster", 1.2, {1.1, 1.3}, 6};
  evaluation.profile = R"({"shapes": []})";
  evaluation.device = "cuda";
  evaluation.device_name = "GPU";
  evaluation.device_uuid = "GPU-1";
  evaluation.driver = "CUDA 13.0";
  evaluation.worker = "beta";
  evaluation.isolation = "bubblewrap";
  evaluation.evaluator_version = 8;
  evaluation.seed = (std::uint64_t{1} << 63U) + 1;
  evaluation.unranked = "its seed was given";
  evaluation.started_at = "2026-01-01T00:00:00.000Z";
  evaluation.seconds = 1.5;
  return evaluation;
}

} // namespace winnow::tasks::test
