#include "harness/report/variant_report.h"

#include "harness/report/timed_shapes.h"
#include "store/json_table.h"

#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using tasks::Evaluation;

bool is_quick_variant(const Evaluation& variant) {
  return variant.verdict == tasks::Verdict::NotJudged && variant.stage == tasks::Stage::Time;
}

/// A quick timing happens after the visible shapes were checked and before the hidden shapes.
std::string verdict_text(const json& variant) {
  return variant.at("timing") == "quick" ? "right on shown shapes"
                                         : store::text_at(variant, "verdict");
}

std::string parameters_text(const json& variant) {
  const std::string parameters = store::parameters_at(variant);
  return parameters.empty() ? "no parameters" : parameters;
}

/// A function that makes a cell: the variant's median time at `shape`.
auto median_at(const json& shape) {
  return [shape](const json& times) {
    for (const json& time : times) {
      if (time.at("shape") == shape) {
        return time_text(store::number_at(time, "median_ns"));
      }
    }
    return std::string();
  };
}

} // namespace

json variants_json(const std::vector<Evaluation>& family) {
  json list = json::array();
  for (const Evaluation& variant : family) {
    json times = json::array();
    for (const auto& [timed, rival, ratio, bounds] : timed_shapes(variant)) {
      json& time = times.emplace_back(json{
          {"shape", timed.shape}, {"baseline_median_ns", measured_json(timed.baseline_median_ns)}});
      put_measured(time, "median", "_ns", timed.median_ns, timed.median_bounds_ns);
    }
    json& one = list.emplace_back(json{{"parameters", variant.parameters},
                                       {"verdict", to_string(variant.verdict)},
                                       {"detail", variant.detail},
                                       {"timing", is_quick_variant(variant) ? "quick" : "full"},
                                       {"times", times}});
    put_measured(one, "speedup", "", variant.speedup, variant.speedup_bounds);
  }
  return list;
}

std::string variants_text(const json& variants) {
  if (variants.size() < 2) {
    return {};
  }
  std::vector<store::JsonColumn> columns{{{"variant"}, "", parameters_text},
                                         {{"verdict"}, "", verdict_text}};
  for (const json& time : variants.front().at("times")) {
    columns.push_back({{time.at("shape"), true}, "times", median_at(time.at("shape"))});
  }
  columns.push_back({{"speedup", true}, "speedup", [](const json& speedup) {
                       return ratio_text(store::number_at(speedup, ""));
                     }});
  columns.push_back({{"timing"}, "", [](const json& variant) {
                       return variant.at("speedup").is_null() ? ""
                                                              : store::text_at(variant, "timing");
                     }});
  return "\n" + to_aligned_text(store::json_table(variants, columns), 0);
}

} // namespace winnow::harness
