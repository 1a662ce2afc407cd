#include "tasks/result/evaluation_codec.h"

namespace winnow::tasks {

template <>
constexpr EnumRange kEnumRange<Verdict>{static_cast<int>(Verdict::NotJudged),
                                        static_cast<int>(Verdict::Refused)};
template <>
constexpr EnumRange kEnumRange<Stage>{static_cast<int>(Stage::Parse),
                                      static_cast<int>(Stage::HeldOut)};
template <>
constexpr EnumRange kEnumRange<ShapeSet>{static_cast<int>(ShapeSet::Tiny),
                                         static_cast<int>(ShapeSet::HeldOut)};
template <>
constexpr EnumRange kEnumRange<FindingKind>{static_cast<int>(FindingKind::MutableGlobal),
                                            static_cast<int>(FindingKind::LocalMemory)};

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
WINNOW_JSON_FIELDS(KernelResources, kernel, registers, spill_store_bytes, spill_load_bytes,
                   stack_bytes, static_shared_bytes)
WINNOW_JSON_FIELDS(Finding, kind, detail)
WINNOW_JSON_FIELDS(BuildRecord, digest, compiler, from_cache, seconds, log, architecture,
                   machine_code_digest, kernels, findings, features, compiler_ms, load_ms)
WINNOW_JSON_FIELDS(Evaluation, verdict, stage, detail, notes, parameters, build, cases, speedup,
                   speedup_bounds, score_ns, hidden_speedup, hidden_race_ratio, promoted, race,
                   profile, device, device_name, isolation, evaluator_version, seed, unranked,
                   started_at, seconds)
WINNOW_JSON_FIELDS(SittingTime, shape_id, median_ns, baseline_median_ns)
WINNOW_JSON_FIELDS(SittingRow, kernel, verdict, detail, rank, score_ns, speedup, speedup_bounds,
                   held_out_speedup, times, races)
WINNOW_JSON_FIELDS(SittingResult, device, device_name, evaluator_version, seed, rounds,
                   baseline_spread, widening, started_at, seconds, rows)

nlohmann::json JsonForm<Evaluation>::write(const Evaluation& evaluation) {
  FieldWriter writer;
  list_fields(writer, evaluation);
  return writer.take();
}

void JsonForm<Evaluation>::read(const nlohmann::json& json, const std::string& path,
                                Evaluation& evaluation) {
  FieldReader reader(json, path);
  list_fields(reader, evaluation);
  reader.end();
  if (!evaluation.profile.empty() && !nlohmann::json::accept(evaluation.profile)) {
    throw_bad_json(path + ".profile", "JSON");
  }
}

nlohmann::json JsonForm<SittingResult>::write(const SittingResult& sitting) {
  FieldWriter writer;
  list_fields(writer, sitting);
  return writer.take();
}

void JsonForm<SittingResult>::read(const nlohmann::json& json, const std::string& path,
                                   SittingResult& sitting) {
  FieldReader reader(json, path);
  list_fields(reader, sitting);
  reader.end();
}

} // namespace winnow::tasks
