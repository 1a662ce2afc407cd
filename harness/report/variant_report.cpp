#include "harness/report/variant_report.h"

#include "harness/report/eval_report.h"
#include "harness/report/timed_shapes.h"
#include "store/text_table.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using tasks::Evaluation;

bool is_quick_variant(const Evaluation& variant) {
  return variant.verdict == tasks::Verdict::NotJudged && variant.stage == tasks::Stage::Time;
}

/// A quick timing happens after the visible shapes were checked and before the hidden shapes.
std::string variant_verdict(const Evaluation& variant) {
  return is_quick_variant(variant) ? "right on shown shapes"
                                   : std::string(to_string(variant.verdict));
}

std::vector<std::string> variant_row(const Evaluation& variant,
                                     const std::vector<std::string>& shapes) {
  const std::string parameters = tasks::parameters_text(variant.parameters);
  std::vector<std::string> row{parameters.empty() ? "no parameters" : parameters,
                               variant_verdict(variant)};
  const std::vector<TimedShape> timed = timed_shapes(variant);
  for (const std::string& shape : shapes) {
    const auto found = std::find_if(timed.begin(), timed.end(), [&](const TimedShape& one) {
      return one.timed->shape == shape;
    });
    row.push_back(found != timed.end() ? time_text(found->timed->median_ns) : "");
  }
  row.push_back(ratio_text(variant.speedup));
  row.emplace_back(variant.speedup > 0 ? is_quick_variant(variant) ? "quick" : "full" : "");
  return row;
}

} // namespace

std::string variants_text(const std::vector<Evaluation>& family) {
  if (family.size() < 2) {
    return {};
  }
  std::vector<std::string> shapes;
  for (const TimedShape& shape : timed_shapes(family.front())) {
    shapes.push_back(shape.timed->shape);
  }
  store::TextTable table;
  table.columns.push_back({"variant"});
  table.columns.push_back({"verdict"});
  for (const std::string& shape : shapes) {
    table.columns.push_back({shape, true});
  }
  table.columns.push_back({"speedup", true});
  table.columns.push_back({"timing"});
  for (const Evaluation& variant : family) {
    table.rows.push_back(variant_row(variant, shapes));
  }
  return "\n" + to_aligned_text(table, 0);
}

json variants_json(const std::vector<Evaluation>& family) {
  json list = json::array();
  for (const Evaluation& variant : family) {
    json times = json::array();
    for (const TimedShape& shape : timed_shapes(variant)) {
      times.push_back({{"shape", shape.timed->shape},
                       {"median_ns", measured_json(shape.timed->median_ns)},
                       {"median_low_ns", low_json(shape.timed->median_bounds_ns)},
                       {"median_high_ns", high_json(shape.timed->median_bounds_ns)},
                       {"baseline_median_ns", measured_json(shape.timed->baseline_median_ns)}});
    }
    list.push_back({{"parameters", variant.parameters},
                    {"verdict", to_string(variant.verdict)},
                    {"detail", variant.detail},
                    {"timing", is_quick_variant(variant) ? "quick" : "full"},
                    {"speedup", measured_json(variant.speedup)},
                    {"speedup_low", low_json(variant.speedup_bounds)},
                    {"speedup_high", high_json(variant.speedup_bounds)},
                    {"times", times}});
  }
  return list;
}

} // namespace winnow::harness
