// The output of `winnow baseline torch`.
#include "base/json_dump.h"
#include "base/text.h"
#include "harness/baseline/torch_baseline.h"
#include "store/text_table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

template <typename Value> json or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
}

std::vector<std::string> cells(const store::BaselineTiming& timing) {
  return {timing.name,
          timing.shape_id,
          timing.shape,
          timing.median_ns ? fmt::format("{:.2f}", *timing.median_ns / 1000) : "",
          timing.times_ns.empty() ? "" : std::to_string(timing.times_ns.size()),
          timing.max_error_ratio ? fmt::format("{:.3g}", *timing.max_error_ratio) : "",
          timing.agrees ? (*timing.agrees ? "yes" : "no") : "no answer"};
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

std::string to_text(const TorchBaseline& baseline) {
  store::TextTable table;
  table.columns = {{"baseline"},
                   {"shape"},
                   {"sizes"},
                   {"median us", true},
                   {"samples", true},
                   {"error/limit", true},
                   {"agrees with reference.cu"}};
  std::string notes;
  for (const store::BaselineTiming& timing : baseline.timings) {
    table.rows.push_back(cells(timing));
    if (!timing.error.empty()) {
      notes += fmt::format("{}, {} ({}): {}\n", timing.name, timing.shape_id, timing.shape,
                           timing.error);
    }
  }
  if (!baseline.no_compile.empty()) {
    notes += "torch.compile: " + baseline.no_compile + "\n";
  }
  return to_aligned_text(table, 0) + (notes.empty() ? "" : "\n" + notes) +
         fmt::format("torch {} on {} ({})\n", baseline.version, baseline.device.kind,
                     baseline.device.name);
}

std::string to_json_text(const tasks::Task& task, const TorchBaseline& baseline) {
  json timings = json::array();
  for (const store::BaselineTiming& timing : baseline.timings) {
    timings.push_back(timing_json(timing));
  }
  const json document{
      {"schema", "winnow.baselines"},
      {"version", 1},
      {"task", task.name},
      {"task_digest", task.digest},
      {"device", baseline.device.kind},
      {"device_name", baseline.device.name},
      {"no_compile", baseline.no_compile.empty() ? json(nullptr) : json(baseline.no_compile)},
      {"baselines", timings}};
  return json_document(document);
}

} // namespace winnow::harness
