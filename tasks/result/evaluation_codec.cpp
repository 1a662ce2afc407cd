#include "tasks/result/evaluation_codec.h"

namespace winnow::tasks {

WINNOW_JSON_FIELDS(Evaluation, verdict, stage, detail, notes, parameters, build, cases, speedup,
                   speedup_bounds, score_ns, hidden_speedup, hidden_race_ratio, promoted, race,
                   suspended, profile, device, device_name, device_uuid, driver, worker, isolation,
                   evaluator_version, seed, unranked, started_at, seconds)

void JsonForm<Evaluation>::append(std::string& out, const Evaluation& evaluation) {
  append_fields(out, evaluation);
}

void JsonForm<Evaluation>::read(const nlohmann::json& json, const std::string& path,
                                Evaluation& evaluation) {
  read_fields(json, path, evaluation);
  if (!evaluation.profile.empty() && !nlohmann::json::accept(evaluation.profile)) {
    throw_bad_json(path + ".profile", "JSON");
  }
}

} // namespace winnow::tasks
