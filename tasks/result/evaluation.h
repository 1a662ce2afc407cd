#pragma once

#include "base/fields.h"
#include "tasks/plan/plan.h"
#include "tasks/plan/signature.h"
#include "tasks/result/finding.h"
#include "tasks/result/verdict.h"
#include "tasks/task/task.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::tasks {

/// The wrong elements of an output: their number, the first one and their pattern.
struct Mismatch {
  std::string tensor;
  std::int64_t wrong = 0; ///< elements over the limit
  std::int64_t total = 0;
  std::int64_t first_index = -1;
  std::string first_position; ///< "(row 3, col 1000)" from the tensor's shape
  double got = 0;
  double expected = 0;
  double limit = 0;       ///< the allowed difference at first_index
  double worst_ratio = 0; ///< largest difference / limit over all elements
  std::string pattern;    ///< "only the last column tile", "every row from 96", "all NaN", ...
};
WINNOW_FIELDS(Mismatch, tensor, wrong, total, first_index, first_position, got, expected, limit,
              worst_ratio, pattern)

/// A library baseline of the task at one shape, timed in turns with the candidate.
struct LibraryTiming {
  std::string name; ///< "cublaslt"
  std::vector<double> samples_ns;
  double median_ns = 0;       ///< 0: not timed
  double max_error_ratio = 0; ///< largest difference from the reference / limit
  bool agrees = false;        ///< the result is within the limit of the reference
  std::string error;          ///< why there is no timing, or where the result is wrong; else empty
  bool is_fresh = true;       ///< false: measured with an earlier candidate of the session
};
WINNOW_FIELDS(LibraryTiming, name, samples_ns, median_ns, max_error_ratio, agrees, error, is_fresh)

/// An interval that holds a number; 0 and 0: not known.
struct Bounds {
  double low = 0;
  double high = 0;
  bool known() const { return high > 0; }
};
WINNOW_FIELDS(Bounds, low, high)

/// How the device took the samples of a case. A field is empty or 0 if the device does not report
/// it.
struct TimingConditions {
  int warm_ups = 0;            ///< launches whose times do not count
  int discarded = 0;           ///< samples dropped because the clock was too low
  std::string stopped_by;      ///< why the sampling ended: "converged", "clearly slower", ...
  double median_clock_mhz = 0; ///< of the multiprocessors, around the launches; 0: not known
  double memory_clock_mhz = 0; ///< 0: not known; also for the fields below
  double temperature_c = 0;
  double power_w = 0;
  std::vector<std::string> throttle_reasons; ///< after the last launch
  // The summary of the candidate's samples by profiling/statistics/summary.h.
  int outliers = 0; ///< samples far above the others
  double drift = 0; ///< relative change from first to last if significant, else 0; positive: slower
  bool bimodal = false; ///< two groups of samples, for instance from two clock states
};
WINNOW_FIELDS(TimingConditions, warm_ups, discarded, stopped_by, median_clock_mhz, memory_clock_mhz,
              temperature_c, power_w, throttle_reasons, outliers, drift, bimodal)

/// The result of one shape with one seed in one stage.
struct CaseResult {
  Stage stage = Stage::Tiny;
  std::string shape_id; ///< "search/1"
  ShapeSet set = ShapeSet::Tiny;
  std::string shape; ///< to_string(Shape)
  std::uint64_t seed = 0;
  Verdict verdict = Verdict::NotJudged;
  std::string detail;
  std::optional<Mismatch> mismatch;
  double max_error_ratio = 0; ///< largest difference / limit, or rms_error_ratio if larger
  double rms_error_ratio = 0; ///< rms of all errors / its limit; 0: exact, or compared exactly
  /// Raw samples in order; timing stages only. Samples of the candidate, the baseline and the
  /// incumbent with the same index were taken directly after one another.
  std::vector<double> samples_ns;
  std::vector<double> baseline_samples_ns;  ///< the task's baseline in the same session
  std::vector<double> incumbent_samples_ns; ///< of the best kernel so far, if there is one
  std::vector<double> warm_samples_ns;      ///< with warm caches; only a profile has them
  double median_ns = 0;                     ///< 0: not timed
  double baseline_median_ns = 0;            ///< 0: not timed
  Bounds median_bounds_ns;                  ///< 95 % bootstrap interval of the median
  /// Median over the pairs of baseline / candidate samples with the same index, so that
  /// disturbances of both cancel. Differs a little from the quotient of the medians. 0: not timed.
  double speedup = 0;
  Bounds speedup_bounds; ///< 95 % bootstrap interval of speedup
  TimingConditions conditions;
  std::vector<LibraryTiming> libraries; ///< timing stages on GPUs with library baselines
  double prepare_ns = 0;                ///< time of one run of the plan's `prepare` steps; 0: none
};
WINNOW_FIELDS(CaseResult, stage, shape_id, set, shape, seed, verdict, detail, mismatch,
              max_error_ratio, rms_error_ratio, samples_ns, baseline_samples_ns,
              incumbent_samples_ns, warm_samples_ns, median_ns, baseline_median_ns,
              median_bounds_ns, speedup, speedup_bounds, conditions, libraries, prepare_ns)

/// A race: the candidate and the best kernel of its archive (the incumbent) run in turns.
struct RaceResult {
  std::string rival; ///< digest of the incumbent's file and parameters
  /// For the candidate; follows from `bounds`: "faster", "slower", "tie", "undecided", "not shown
  /// to be faster".
  std::string verdict;
  /// incumbent / candidate over the search shapes: above 1 is faster. Unknown if a shape has no
  /// block: a mean over some shapes is not the mean over all.
  std::optional<double> ratio;
  Bounds bounds;  ///< holds the true ratio with 99 % probability, whenever the race stops
  int blocks = 0; ///< blocks of four launches in the order ABBA
};
WINNOW_FIELDS(RaceResult, rival, verdict, ratio, bounds, blocks)

/// The incumbent of an evaluation was not what it was in its own evaluation, so there is no race.
struct Suspension {
  std::string kernel; ///< digest of the incumbent's file and parameters
  std::string why;    ///< "a timed launch was wrong: ...", "it faults alone, too: ..."
};
WINNOW_FIELDS(Suspension, kernel, why)

/// One compiled variant of a candidate.
struct BuildRecord {
  std::string digest;   ///< content hash: source, parameters, kernels, options, compiler, headers
  std::string compiler; ///< "clang++ 14.0.6"
  bool from_cache = false;
  double seconds = 0;
  std::string log; ///< compiler messages with the candidate's line numbers, cleaned and capped
  std::string architecture;             ///< "sm_90a", "gfx90a"; empty on the cpu
  std::string machine_code_digest;      ///< of all code and data of its kernels; empty: unknown
  std::vector<KernelResources> kernels; ///< GPU code only
  std::vector<Finding> findings;        ///< in the machine code
  /// Structure of the compiled code: "1 kernel", "mma", "cp.async", ...; on a CPU "block barriers",
  /// "warp operations", ...
  std::vector<std::string> features;
  double compiler_ms = 0; ///< time in the compiler library; 0: not known
  double load_ms = 0;     ///< time to load the compiler library; 0: not known
};
WINNOW_FIELDS(BuildRecord, digest, compiler, from_cache, seconds, log, architecture,
              machine_code_digest, kernels, findings, features, compiler_ms, load_ms)

/// The result of one variant of a candidate on one device.
struct Evaluation {
  Verdict verdict = Verdict::NotJudged;
  Stage stage = Stage::Parse;     ///< the last stage that began
  std::string detail;             ///< the reason, for people and prompts; names no hidden shape
  std::vector<std::string> notes; ///< warnings that do not change the verdict
  ParameterChoice parameters;
  BuildRecord build;
  std::vector<CaseResult> cases;
  double speedup = 0; ///< geometric mean over the search shapes of baseline/candidate; 0: not timed
  Bounds speedup_bounds; ///< 95 % interval of speedup
  double score_ns = 0;   ///< geometric mean over the search shapes of the median time; 0: not timed
  /// As `speedup`, over the promotion shapes whose speed counts; 0: not timed. Prompts never show
  /// this value.
  double hidden_speedup = 0;
  /// As `hidden_speedup`, but relative to the incumbent of `race`; 0: not timed. Not stored.
  double hidden_race_ratio = 0;
  /// False: the candidate is correct, but too slow on hidden shapes to be ranked.
  bool promoted = true;
  std::optional<RaceResult> race;      ///< against the incumbent, if there is one
  std::optional<Suspension> suspended; ///< the incumbent, if it was at fault. Not stored
  /// The device's performance counters per shape, as JSON (evaluators/evaluation/profile.h); empty:
  /// not profiled.
  std::string profile;
  std::string device;      ///< "cpu"
  std::string device_name; ///< "AMD EPYC ..., 2 cores"
  std::string device_uuid; ///< "GPU-8f6b..."; empty: a CPU, or the driver does not tell
  std::string driver;      ///< "CUDA 13.0"; empty: a CPU
  std::string worker;      ///< its name at the broker; empty: the coordinator's machine judged
  std::string isolation;   ///< "bubblewrap", "landlock+seccomp", "rlimits"
  int evaluator_version = 0;
  /// The seed from which all inputs derive; 0: unknown, or no input was drawn.
  std::uint64_t seed = 0;
  /// Why leaderboards must not rank this evaluation: "its seed was given", ...; empty: they may.
  std::string unranked;
  std::string started_at; ///< ISO-8601 UTC
  double seconds = 0;
};
WINNOW_FIELDS(Evaluation, verdict, stage, detail, notes, parameters, build, cases, speedup,
              speedup_bounds, score_ns, hidden_speedup, hidden_race_ratio, promoted, race,
              suspended, profile, device, device_name, device_uuid, driver, worker, isolation,
              evaluator_version, seed, unranked, started_at, seconds)

// For the store and for documents. from_json throws Error or nlohmann exceptions.
void to_json(nlohmann::json& json, const Mismatch& mismatch);
void from_json(const nlohmann::json& json, Mismatch& mismatch);
void to_json(nlohmann::json& json, const KernelResources& resources);
void from_json(const nlohmann::json& json, KernelResources& resources);
void to_json(nlohmann::json& json, const TimingConditions& conditions);
void from_json(const nlohmann::json& json, TimingConditions& conditions);
void to_json(nlohmann::json& json, const RaceResult& race);
void from_json(const nlohmann::json& json, RaceResult& race);

/// The public form (schema "winnow.evaluation", version 3) in `eval --json` and the exports. For a
/// hidden shape the form has only the verdict, the baseline's time and whether speed counts.
nlohmann::json evaluation_json(const Evaluation& evaluation);

double median(std::vector<double> samples); ///< 0 without samples
/// The 95 % interval of the median by order statistics, which asks nothing of the distribution
/// (David and Nagaraja, Order Statistics, 7.1); not known of fewer than 6 samples.
Bounds median_bounds(std::vector<double> samples);
double geometric_mean(const std::vector<double>& values); ///< 0 without values

} // namespace winnow::tasks
