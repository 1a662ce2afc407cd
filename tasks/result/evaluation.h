#pragma once

#include "tasks/plan/plan.h"
#include "tasks/plan/signature.h"
#include "tasks/result/finding.h"
#include "tasks/result/verdict.h"
#include "tasks/task.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::tasks {

/// Where an output differs from the reference, and what the differences look like.
struct Mismatch {
  std::string tensor;
  std::int64_t wrong = 0; ///< elements over the limit
  std::int64_t total = 0;
  std::int64_t first_index = -1;
  std::string first_position; ///< "(row 3, col 1000)" from the tensor's shape
  double got = 0;
  double expected = 0;
  double limit = 0;       ///< the difference that was allowed at first_index
  double worst_ratio = 0; ///< largest difference / limit over all elements
  std::string pattern;    ///< "only the last column tile", "every row from 96", "all NaN", ...
};

/// A library baseline of the task at one shape, timed in the session of the candidate beside it.
struct LibraryTiming {
  std::string name; ///< "cublaslt"
  std::vector<double> samples_ns;
  double median_ns = 0;       ///< 0: not timed
  double max_error_ratio = 0; ///< largest difference from the reference / limit
  bool agrees = false;        ///< with the reference
  std::string error;          ///< why it was not timed, or where it differs; empty: neither
  bool is_fresh = true;       ///< false: measured beside an earlier candidate of the session
};

/// What a number is known to lie between; 0 and 0: not known.
struct Bounds {
  double low = 0;
  double high = 0;
  bool known() const { return high > 0; }
};

/// How the samples of a case were taken. What is absent could not be read.
struct TimingConditions {
  int warm_ups = 0;            ///< launches that did not count
  int discarded = 0;           ///< samples thrown away because the clock was too low
  std::string stopped_by;      ///< why there are no more: "converged", "clearly slower", ...
  double median_clock_mhz = 0; ///< of the multiprocessors, measured around the launches; 0: not
  double memory_clock_mhz = 0; ///< 0: not known; so below
  double temperature_c = 0;
  double power_w = 0;
  std::vector<std::string> throttle_reasons; ///< after the last launch
  // What profiling/statistics/summary.h sees in the candidate's samples.
  int outliers = 0;     ///< samples far above the rest
  double drift = 0;     ///< relative change from first to last, where it is significant; +: slower
  bool bimodal = false; ///< two groups, as from two states of a clock
};

/// One shape with one seed in one stage.
struct CaseResult {
  Stage stage = Stage::Tiny;
  std::string shape_id; ///< "search/1"
  ShapeSet set = ShapeSet::Tiny;
  std::string shape; ///< to_string(Shape)
  std::uint64_t seed = 0;
  Verdict verdict = Verdict::NotJudged;
  std::string detail;
  std::optional<Mismatch> mismatch;
  double max_error_ratio = 0; ///< largest difference / limit, also when correct
  /// Raw, in order; timing stages only. Samples with the same index, also of the baseline and the
  /// incumbent, were taken side by side.
  std::vector<double> samples_ns;
  std::vector<double> baseline_samples_ns;  ///< the task's baseline in the same session
  std::vector<double> incumbent_samples_ns; ///< the kernel to beat, where there was one
  std::vector<double> warm_samples_ns;      ///< with warm caches; a profile takes them
  double median_ns = 0;                     ///< 0: not timed
  double baseline_median_ns = 0;            ///< 0: not timed
  Bounds median_bounds_ns;                  ///< 95 % bootstrap interval of the median
  /// Median of baseline / candidate, sample beside sample, so that what both suffered cancels (it
  /// differs a little from the quotient of the medians); 0: not timed.
  double speedup = 0;
  Bounds speedup_bounds; ///< 95 % bootstrap interval of speedup
  TimingConditions conditions;
  std::vector<LibraryTiming> libraries; ///< timing stages of GPUs that have them
  double prepare_ns = 0;                ///< of the plan's `prepare` steps, once; 0: none
};

/// A race of a candidate against the kernel that led its archive, launch beside launch.
struct RaceResult {
  std::string rival;   ///< digest of the incumbent's file and parameters
  std::string verdict; ///< of the candidate: "faster", "slower", "tie", "undecided"
  double ratio = 1;    ///< incumbent / candidate over the search shapes: above 1 is faster
  Bounds bounds;       ///< holds the true ratio with 99 % probability whenever the race is stopped
  int blocks = 0;      ///< of four launches, ABBA
};

/// One compiled variant of a candidate.
struct BuildRecord {
  std::string digest;   ///< content hash: source, parameters, kernels, options, compiler, headers
  std::string compiler; ///< "clang++ 14.0.6"
  bool from_cache = false;
  double seconds = 0;
  std::string log;          ///< compiler messages, candidate's own line numbers, cleaned and capped
  std::string architecture; ///< "sm_90a", "gfx90a"; empty on the cpu
  std::string machine_code_digest;      ///< of all that its kernels can read; empty: not known
  std::vector<KernelResources> kernels; ///< GPU code only
  std::vector<Finding> findings;        ///< in the machine code
  double compiler_ms = 0;               ///< in the compiler library when it was built; 0: not known
  double load_ms = 0;                   ///< to load that library; 0: not known
};

/// Everything that was found out about one variant of a candidate on one device.
struct Evaluation {
  Verdict verdict = Verdict::NotJudged;
  Stage stage = Stage::Parse;     ///< the last one that was entered
  std::string detail;             ///< why, for a person and for the model; no hidden shapes in it
  std::vector<std::string> notes; ///< warnings that change no verdict
  ParameterChoice parameters;
  BuildRecord build;
  std::vector<CaseResult> cases;
  double speedup = 0; ///< geometric mean over the search shapes of baseline/candidate; 0: not timed
  Bounds speedup_bounds; ///< 95 % interval of speedup
  double score_ns = 0;   ///< geometric mean over the search shapes of the median time; 0: not timed
  /// As speedup, over the promotion shapes whose speed counts; 0: not timed there. Never in a
  /// prompt.
  double hidden_speedup = 0;
  /// As that, but beside the incumbent of `race`, in turns with it; 0: not timed. Not stored.
  double hidden_race_ratio = 0;
  /// False: correct, but on hidden shapes too slow beside the best so far to be ranked.
  bool promoted = true;
  std::optional<RaceResult> race; ///< against the incumbent, where there was one
  /// What the device's counters say, by shape: JSON of evaluators/evaluation/profile.h; empty: not
  /// profiled.
  std::string profile;
  std::string device;      ///< "cpu"
  std::string device_name; ///< "AMD EPYC ..., 2 cores"
  std::string isolation;   ///< "bubblewrap", "landlock+seccomp", "rlimits"
  int evaluator_version = 0;
  /// Every input of the evaluation derives from it; 0: not known, or nothing was drawn.
  std::uint64_t seed = 0;
  /// Why no board may rank it: "its seed was given", ...; empty: boards may.
  std::string unranked;
  std::string started_at; ///< ISO-8601 UTC
  double seconds = 0;
};

void to_json(nlohmann::json& json, const KernelResources& resources);
/// Throws nlohmann exceptions.
void from_json(const nlohmann::json& json, KernelResources& resources);

void to_json(nlohmann::json& json, const TimingConditions& conditions);
/// Throws nlohmann exceptions.
void from_json(const nlohmann::json& json, TimingConditions& conditions);
void to_json(nlohmann::json& json, const RaceResult& race);
/// Throws nlohmann exceptions.
void from_json(const nlohmann::json& json, RaceResult& race);

/// The public form (schema "winnow.evaluation", version 2): `eval --json` and the exports.
/// Hidden shapes appear with their verdict, the baseline's time there and whether speed counts.
nlohmann::json evaluation_json(const Evaluation& evaluation);

double median(std::vector<double> samples);               ///< 0 for none
double geometric_mean(const std::vector<double>& values); ///< 0 for none

} // namespace winnow::tasks
