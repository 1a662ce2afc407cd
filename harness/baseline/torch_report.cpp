// The output of `winnow baseline torch`.
#include "base/text/number_text.h"
#include "harness/baseline/torch_baseline.h"
#include "harness/report/json_table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

template <typename Value> json or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
}

json timing_json(const store::BaselineTiming& timing) {
  return {{"name", timing.name},
          {"version", timing.version},
          {"shape_id", timing.shape_id},
          {"shape", timing.shape},
          {"median_ns", or_null(timing.median_ns)},
          {"times_ns", timing.times_ns},
          {"max_error_ratio", or_null(timing.max_error_ratio)},
          {"agrees", or_null(timing.agrees)},
          {"error", timing.error.empty() ? json(nullptr) : json(timing.error)}};
}

} // namespace

json torch_json(const tasks::Task& task, const TorchBaseline& baseline) {
  json timings = json::array();
  for (const store::BaselineTiming& timing : baseline.timings) {
    timings.push_back(timing_json(timing));
  }
  return {{"schema", "winnow.baselines"},
          {"version", 1},
          {"task", task.name},
          {"task_digest", task.digest},
          {"torch", baseline.version},
          {"device", baseline.device.kind},
          {"device_name", baseline.device.name},
          {"no_compile", baseline.no_compile.empty() ? json(nullptr) : json(baseline.no_compile)},
          {"baselines", timings}};
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
      notes += fmt::format("{}, {} ({}): {}\n", text_at(timing, "name"),
                           text_at(timing, "shape_id"), text_at(timing, "shape"), error);
    }
  }
  if (const std::string why = text_at(document, "no_compile"); !why.empty()) {
    notes += "torch.compile: " + why + "\n";
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
