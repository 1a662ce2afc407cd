#include "harness/serve/job_options.h"

#include "base/json_dump.h"

#include <nlohmann/json.hpp>

namespace winnow::harness {

using nlohmann::json;

std::string encoded(const JobOptions& options) {
  return json_line({{"task", options.task},
                    {"task_digest", options.task_digest},
                    {"depth", to_string(options.depth)},
                    {"fresh", options.fresh},
                    {"rival", options.rival},
                    {"max_variants", options.max_variants},
                    {"seed", options.seed ? json(*options.seed) : json()}});
}

JobOptions decoded(const std::string& text) {
  const json document = json::parse(text);
  const json seed = document.value("seed", json());
  return {document.at("task").get<std::string>(),
          document.at("task_digest").get<std::string>(),
          depth_from_string(document.at("depth").get<std::string>()),
          document.at("fresh").get<bool>(),
          document.at("rival").get<store::RowId>(),
          document.value("max_variants", std::size_t{1}), // earlier versions wrote neither
          seed.is_null() ? std::nullopt : std::optional(seed.get<std::uint64_t>())};
}

} // namespace winnow::harness
