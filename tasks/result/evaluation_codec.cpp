#include "tasks/result/evaluation_codec.h"

namespace winnow::tasks {

nlohmann::json JsonForm<Evaluation>::write(const Evaluation& evaluation) {
  return fields_json(evaluation);
}

void JsonForm<Evaluation>::read(const nlohmann::json& json, const std::string& path,
                                Evaluation& evaluation) {
  read_fields(json, path, evaluation);
  if (!evaluation.profile.empty() && !nlohmann::json::accept(evaluation.profile)) {
    throw_bad_json(path + ".profile", "JSON");
  }
}

} // namespace winnow::tasks
