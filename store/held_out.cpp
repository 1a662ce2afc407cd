#include "store/held_out.h"

#include "tasks/result/fitted.h"
#include "tasks/result/least_hidden.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::store {

void to_json(nlohmann::json& json, const HeldOutShape& shape) {
  json = {{"shape", shape.shape_id},
          {"median_ns", shape.median_ns},
          {"baseline_median_ns", shape.baseline_median_ns},
          {"speedup", shape.speedup},
          {"counts", shape.counts},
          {"share", shape.share > 0 ? nlohmann::json(shape.share) : nlohmann::json()},
          {"beside_alternative", shape.beside_alternative}};
}

void from_json(const nlohmann::json& json, HeldOutShape& shape) {
  json.at("shape").get_to(shape.shape_id);
  json.at("median_ns").get_to(shape.median_ns);
  json.at("baseline_median_ns").get_to(shape.baseline_median_ns);
  json.at("speedup").get_to(shape.speedup);
  json.at("counts").get_to(shape.counts);
}

std::string final_held_out(const std::string& of) {
  return fmt::format("iif(instr({0}.times, '\"held_out/') > 0, {0}.held_out_speedup, NULL)", of);
}

std::string held_out_note(const std::vector<HeldOutShape>& shapes) {
  if (shapes.empty()) {
    return std::string(kNotKnown);
  }
  const bool any = std::any_of(shapes.begin(), shapes.end(),
                               [](const HeldOutShape& shape) { return shape.counts; });
  return any ? "" : std::string(kNoneCounts);
}

const HeldOutShape* unfit_shape(const std::vector<HeldOutShape>& shapes, std::string_view device) {
  const double least_ns = tasks::least_hidden_ns(device);
  const HeldOutShape* least = nullptr;
  for (const HeldOutShape& shape : shapes) {
    const bool unfit = shape.counts && shape.median_ns >= least_ns && shape.share > 0 &&
                       shape.share < tasks::kFittedShare;
    if (unfit && (least == nullptr || shape.share < least->share)) {
      least = &shape;
    }
  }
  return least;
}

} // namespace winnow::store
