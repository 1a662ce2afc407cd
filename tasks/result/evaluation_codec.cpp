#include "tasks/result/evaluation_codec.h"

namespace winnow::tasks {

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
