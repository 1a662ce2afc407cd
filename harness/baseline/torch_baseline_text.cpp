#include "base/text/number_text.h"
#include "harness/baseline/torch_baseline.h"
#include "harness/report/json_table.h"
#include "store/fields.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {

using nlohmann::json;

json torch_json(const tasks::Task& task, const TorchBaseline& baseline) {
  return {{"schema", "winnow.baselines"},
          {"version", 1},
          {"task", task.name},
          {"task_digest", task.digest},
          {"torch", baseline.version},
          {"device", baseline.device.kind},
          {"device_name", baseline.device.name},
          {"no_compile", baseline.no_compile.empty() ? json(nullptr) : json(baseline.no_compile)},
          {"no_alternative",
           baseline.no_alternative.empty() ? json(nullptr) : json(baseline.no_alternative)},
          {"baselines", store::records_json(baseline.timings,
                                            {"task device device_name recorded_at", "error"})}};
}

std::string torch_text(const json& document) {
  const auto microseconds = [](const json& ns) {
    return ns.is_null() ? "" : number_text(ns.get<double>() / 1000);
  };
  const auto count = [](const json& times) {
    return times.empty() ? "" : std::to_string(times.size());
  };
  const auto ratio = [](const json& error) {
    return error.is_null() ? "" : fmt::format("{:.3g}", error.get<double>());
  };
  const auto agreement = [](const json& agrees) {
    return agrees.is_null() ? "no answer" : agrees == true ? "yes" : "no";
  };
  const json& timings = document.at("baselines");
  std::string notes;
  for (const json& timing : timings) {
    if (const std::string error = text_at(timing, "error"); !error.empty()) {
      notes +=
          fmt::format("{}, {} ({}): {}\n", text_at(timing, "name"), text_at(timing, "shape_id"),
                      text_at(timing, "shape"), error.substr(0, error.find('\n')));
    }
  }
  if (const std::string why = text_at(document, "no_compile"); !why.empty()) {
    notes += "torch.compile: " + why + "\n";
  }
  if (const std::string why = text_at(document, "no_alternative"); !why.empty()) {
    notes += "no alternatives to reference.py: " + why + "\n";
  }
  const TextTable table =
      json_table(timings, {{{"baseline"}, "name"},
                           {{"shape"}, "shape_id"},
                           {{"sizes"}, "shape"},
                           {{"median us", true}, "median_ns", microseconds},
                           {{"samples", true}, "times_ns", count},
                           {{"error/limit", true}, "max_error_ratio", ratio},
                           {{"agrees with reference.cu"}, "agrees", agreement}});
  return to_aligned_text(table, 0) + (notes.empty() ? "" : "\n" + notes) +
         fmt::format("torch {} on {} ({})\n", text_at(document, "torch"),
                     text_at(document, "device"), text_at(document, "device_name"));
}

} // namespace winnow::harness
