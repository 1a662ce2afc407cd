#include "base/text.h"
#include "base/text/unified_diff.h"
#include "harness/report/candidate_report.h"
#include "harness/report/json_table.h"
#include "harness/report/timed_shapes.h"
#include "store/candidate_record.h"

#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr const char* kTimesNote =
    "the times are of two evaluations, and the speed of a machine changes between evaluations: "
    "`{}` says which kernel is faster";

constexpr const char* kGpusNote = "A and B were judged on different GPUs of one model, so a part "
                                  "of the difference of their times "
                                  "comes from the GPUs: compare the speedups; ";

/// By name: the value in A and the value in B; null where there is none.
using Pairs = std::map<std::string, std::pair<json, json>>;

/// "launches/0/grid/0" with its value, for each value that is no object and no list.
void collect(const json& value, const std::string& path, std::map<std::string, json>& leaves) {
  if (value.is_structured() && !value.empty()) {
    for (const auto& [name, member] : value.items()) {
      collect(member, path.empty() ? name : path + "/" + name, leaves);
    }
  } else if (!path.empty()) {
    leaves[path] = value;
  }
}

Pairs paired(const json& a, const json& b) {
  std::map<std::string, json> in_a, in_b;
  collect(a, "", in_a);
  collect(b, "", in_b);
  Pairs pairs;
  for (const auto& [name, value] : in_a) {
    pairs[name].first = value;
  }
  for (const auto& [name, value] : in_b) {
    pairs[name].second = value;
  }
  return pairs;
}

/// The entries of the pairs that differ.
json differences(const Pairs& pairs, const char* name) {
  json list = json::array();
  for (const auto& [key, values] : pairs) {
    if (values.first != values.second) {
      list.push_back({{name, key}, {"a", values.first}, {"b", values.second}});
    }
  }
  return list;
}

json plan_of(const json& candidate) {
  const json plan = json::parse(text_at(candidate, "plan"), nullptr, false);
  return plan.is_discarded() ? json() : plan;
}

/// The resources of the kernels by name: {"axpy<128>": {"registers": 32}}.
json resources_of(const json& candidate) {
  json resources = json::object();
  for (json kernel : value_at(candidate, "evaluation/build/kernels")) {
    const std::string name = text_at(kernel, "kernel");
    kernel.erase("kernel");
    resources[name] = kernel;
  }
  return resources;
}

json resources_diff(const json& a, const json& b) {
  const json in_a = resources_of(a), in_b = resources_of(b);
  std::set<std::string> kernels;
  for (const json* side : {&in_a, &in_b}) {
    for (const auto& [kernel, resources] : side->items()) {
      kernels.insert(kernel);
    }
  }
  json list = json::array();
  for (const std::string& kernel : kernels) {
    const Pairs pairs =
        paired(in_a.value(kernel, json::object()), in_b.value(kernel, json::object()));
    for (json& entry : differences(pairs, "resource")) {
      entry["kernel"] = kernel;
      list.push_back(std::move(entry));
    }
  }
  return list;
}

/// The timed search shapes by id and sizes.
std::map<std::pair<std::string, std::string>, json> timed_shapes_of(const json& candidate) {
  std::map<std::pair<std::string, std::string>, json> shapes;
  for (const json& result : value_at(candidate, "evaluation/cases")) {
    if (result.contains("shape") && number_at(result, "median_ns") > 0) {
      shapes[{text_at(result, "shape_id"), text_at(result, "shape")}] = result;
    }
  }
  return shapes;
}

/// Empty if the candidates are of different tasks.
json times_diff(const json& a, const json& b) {
  if (a.at("task") != b.at("task")) {
    return json::array();
  }
  auto in_a = timed_shapes_of(a), in_b = timed_shapes_of(b);
  std::set<std::pair<std::string, std::string>> shapes;
  for (const auto* side : {&in_a, &in_b}) {
    for (const auto& [shape, result] : *side) {
      shapes.insert(shape);
    }
  }
  json list = json::array();
  for (const auto& shape : shapes) {
    json entry{{"shape_id", shape.first}, {"shape", shape.second}};
    const std::pair<const char*, const json*> sides[] = {{"a_", &in_a[shape]},
                                                         {"b_", &in_b[shape]}};
    for (const auto& [side, result] : sides) {
      put_measured(entry, side + std::string("median"), "_ns", number_at(*result, "median_ns"),
                   bounds_at(*result, "median", "_ns"));
      put_measured(entry, side + std::string("speedup"), "", number_at(*result, "speedup"),
                   bounds_at(*result, "speedup"));
    }
    list.push_back(std::move(entry));
  }
  return list;
}

json counters_diff(const json& a, const json& b) {
  std::map<std::pair<std::string, std::string>, std::pair<json, json>> values;
  for (const bool is_b : {false, true}) {
    for (const json& shape : value_at(is_b ? b : a, "evaluation/profile")) {
      for (const auto& [name, counter] : value_at(shape, "counters/counters").items()) {
        const json& value = value_at(counter, "value");
        if (!value.is_null()) {
          auto& pair = values[{text_at(shape, "shape_id"), name}];
          (is_b ? pair.second : pair.first) = value;
        }
      }
    }
  }
  json list = json::array();
  for (const auto& [key, pair] : values) {
    list.push_back(
        {{"shape_id", key.first}, {"counter", key.second}, {"a", pair.first}, {"b", pair.second}});
  }
  return list;
}

json side_json(const json& candidate) {
  json side;
  for (const char* name : {"candidate_id", "run", "task", "origin", "model", "author", "digest"}) {
    side[name] = candidate.at(name);
  }
  const json& evaluation = candidate.at("evaluation");
  side["verdict"] = evaluation.is_null() ? json("not_judged") : evaluation.at("verdict");
  side["device_name"] = value_at(evaluation, "device_name");
  side["device_uuid"] = value_at(evaluation, "device_uuid");
  put_measured(side, "speedup", "", number_at(evaluation, "speedup"),
               bounds_at(evaluation, "speedup"));
  store::put_versus(side, versus_at(evaluation));
  return side;
}

std::string side_line(const char* name, const json& side) {
  const std::string interval = ratio_interval_text(bounds_at(side, "speedup"));
  const double speedup = number_at(side, "speedup");
  const bool is_versus_eager = speedup > 0 && versus_at(side) == tasks::kVersusEager;
  return on_one_line(fmt::format("{}: candidate {}, file {}, {} by {} in run {}: {}{}{}{}", name,
                                 text_at(side, "candidate_id"),
                                 text_at(side, "digest").substr(0, 8), text_at(side, "task"),
                                 text_at(side, "author"), text_at(side, "run"),
                                 text_at(side, "verdict"),
                                 speedup > 0 ? ", " + ratio_text(speedup) + " when judged" : "",
                                 is_versus_eager ? " over PyTorch eager" : "",
                                 interval.empty() ? "" : " (95 %: " + interval + ")")) +
         "\n";
}

/// A table under a heading, or nothing without rows.
std::string section(const char* heading, const json& rows, const std::vector<JsonColumn>& columns) {
  if (rows.empty()) {
    return {};
  }
  TextTable table = json_table(rows, columns);
  remove_empty_columns(table);
  return fmt::format("\n{}\n", heading) + to_aligned_text(table, 2);
}

bool are_on_two_gpus(const json& document) {
  const std::string a = text_at(document, "a/device_uuid"), b = text_at(document, "b/device_uuid");
  return !a.empty() && !b.empty() && a != b &&
         value_at(document, "a/device_name") == value_at(document, "b/device_name");
}

bool is_correct(const json& side) {
  return side.at("verdict") == to_string(tasks::Verdict::Correct);
}

std::string times_section(const json& document, const std::string& race) {
  const auto time = [](const json& value) { return time_text(number_at(value, "")); };
  const auto speedup = [](const json& value) { return ratio_text(number_at(value, "")); };
  const auto interval = [](const char* name) {
    return [name](const json& shape) { return ratio_interval_text(bounds_at(shape, name)); };
  };
  const std::string table = section("times", document.at("shapes"),
                                    {{{"shape"}, "shape"},
                                     {{"A median", true}, "a_median_ns", time},
                                     {{"B median", true}, "b_median_ns", time},
                                     {{"A speedup", true}, "a_speedup", speedup},
                                     {{"95 %", true}, "", interval("a_speedup")},
                                     {{"B speedup", true}, "b_speedup", speedup},
                                     {{"95 %", true}, "", interval("b_speedup")}});
  if (table.empty() || !(is_correct(document.at("a")) && is_correct(document.at("b")))) {
    return table; // a race takes correct kernels only
  }
  const std::string note =
      (are_on_two_gpus(document) ? kGpusNote : "") + fmt::format(fmt::runtime(kTimesNote), race);
  return table + wrap_line(note, table_columns(), 0) + "\n";
}

std::string source_section(const json& document) {
  const json& lines = document.at("source");
  std::string text = "\nsource\n";
  for (const json& line : lines) {
    text += to_valid_utf8(line.get<std::string>()) + "\n";
  }
  return lines.empty() ? "\nthe kernel files are equal\n" : text;
}

} // namespace

json diff_json(const json& a, const json& b) {
  return {{"schema", "winnow.diff"},
          {"version", 1},
          {"a", side_json(a)},
          {"b", side_json(b)},
          {"parameters", differences(paired(value_at(a, "evaluation/parameters"),
                                            value_at(b, "evaluation/parameters")),
                                     "parameter")},
          {"plan", differences(paired(plan_of(a), plan_of(b)), "path")},
          {"resources", resources_diff(a, b)},
          {"shapes", times_diff(a, b)},
          {"counters", counters_diff(a, b)},
          {"source", unified_diff(text_at(a, "source"), text_at(b, "source"))}};
}

std::string diff_text(const json& document, const std::string& race) {
  const auto side = [](const char* name) {
    return JsonColumn{{name == std::string("a") ? "A" : "B"}, name};
  };
  return side_line("A", document.at("a")) + side_line("B", document.at("b")) +
         section("parameters", document.at("parameters"),
                 {{{"parameter"}, "parameter"}, side("a"), side("b")}) +
         section("plan", document.at("plan"), {{{"path"}, "path"}, side("a"), side("b")}) +
         section("resources", document.at("resources"),
                 {{{"kernel"}, "kernel"}, {{"resource"}, "resource"}, side("a"), side("b")}) +
         times_section(document, race) +
         section("counters", document.at("counters"),
                 {{{"shape"}, "shape_id"}, {{"counter"}, "counter"}, side("a"), side("b")}) +
         source_section(document);
}

} // namespace winnow::harness
