#pragma once

#include "tasks/json/json_fields.h"
#include "tasks/result/evaluation.h"
#include "tasks/result/sitting.h"

namespace winnow::tasks {

// The lossless JSON of evaluations and of their parts, for other processes of Winnow. See
// evaluation_json() for the public form.

template <> inline constexpr EnumRange kEnumRange<Verdict>{Verdict::NotJudged, Verdict::Refused};
template <> inline constexpr EnumRange kEnumRange<Stage>{Stage::Parse, Stage::HeldOut};
template <> inline constexpr EnumRange kEnumRange<ShapeSet>{ShapeSet::Tiny, ShapeSet::HeldOut};
template <>
inline constexpr EnumRange kEnumRange<FindingKind>{FindingKind::MutableGlobal,
                                                   FindingKind::LocalMemory};

WINNOW_JSON_FIELDS(Mismatch, tensor, wrong, total, first_index, first_position, got, expected,
                   limit, worst_ratio, pattern)
WINNOW_JSON_FIELDS(LibraryTiming, name, samples_ns, median_ns, max_error_ratio, agrees, error,
                   is_fresh)
WINNOW_JSON_FIELDS(Bounds, low, high)
WINNOW_JSON_FIELDS(TimingConditions, warm_ups, discarded, stopped_by, median_clock_mhz,
                   memory_clock_mhz, temperature_c, power_w, throttle_reasons, outliers, drift,
                   bimodal)
WINNOW_JSON_FIELDS(CaseResult, stage, shape_id, set, shape, seed, verdict, detail, mismatch,
                   max_error_ratio, samples_ns, baseline_samples_ns, incumbent_samples_ns,
                   warm_samples_ns, median_ns, baseline_median_ns, median_bounds_ns, speedup,
                   speedup_bounds, conditions, libraries, prepare_ns)
WINNOW_JSON_FIELDS(RaceResult, rival, verdict, ratio, bounds, blocks)
WINNOW_JSON_FIELDS(Suspension, kernel, why)
WINNOW_JSON_FIELDS(KernelResources, kernel, registers, spill_store_bytes, spill_load_bytes,
                   stack_bytes, static_shared_bytes)
WINNOW_JSON_FIELDS(Finding, kind, detail)
WINNOW_JSON_FIELDS(BuildRecord, digest, compiler, from_cache, seconds, log, architecture,
                   machine_code_digest, kernels, findings, features, compiler_ms, load_ms)
WINNOW_JSON_FIELDS(SittingTime, shape_id, median_ns, baseline_median_ns)
WINNOW_JSON_FIELDS(SittingRow, kernel, verdict, detail, rank, score_ns, speedup, speedup_bounds,
                   held_out_speedup, times, races)
WINNOW_JSON_FIELDS(SittingResult, device, device_name, device_uuid, driver, worker,
                   evaluator_version, seed, rounds, baseline_spread, widening, started_at, seconds,
                   rows)

template <> struct JsonForm<Evaluation> {
  static void append(std::string& out, const Evaluation& evaluation);
  /// Throws Error with the path of the first value that is wrong.
  static void read(const nlohmann::json& json, const std::string& path, Evaluation& evaluation);
};

} // namespace winnow::tasks
