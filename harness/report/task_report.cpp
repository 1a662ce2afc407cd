#include "harness/report/task_report.h"

#include "base/text.h"
#include "harness/report/json_table.h"
#include "store/candidate_record.h"
#include "tasks/doubts.h"
#include "tasks/mutants/memorisable.h"
#include "tasks/reference/narrowing.h"
#include "tasks/task/baseline.h"
#include "tasks/task/generator_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

std::size_t hidden_shapes(const tasks::Task& task) {
  std::size_t count = 0;
  for (const tasks::Shape& shape : task.shapes) {
    count += tasks::is_hidden(shape.set) ? 1 : 0;
  }
  return count;
}

std::string tensor_lines(const json& tensors) {
  const auto shape = [](const json& extents) {
    return "[" + join(extents.get<std::vector<std::string>>(), ", ") + "]";
  };
  return to_aligned_text(json_table(tensors, {{{"tensor"}, "name"},
                                              {{"role"}, "role"},
                                              {{"dtype"}, "dtype"},
                                              {{"shape"}, "shape", shape},
                                              {{"description"}, "description"}}),
                         0);
}

std::string shapes_text(const json& document) {
  std::string text = "shapes\n";
  for (const json& shape : document.at("shapes")) {
    const auto devices = shape.at("devices").get<std::vector<std::string>>();
    text += fmt::format("  {:<10} {}{}\n", text_at(shape, "shape_id"), text_at(shape, "shape"),
                        devices.empty() ? "" : " (" + join(devices, ", ") + " only)");
  }
  return text + fmt::format("  and {} hidden shapes\n", text_at(document, "hidden_shapes"));
}

json tensor_json(const tasks::TensorSpec& tensor) {
  json extents = json::array();
  for (const tasks::Expression& extent : tensor.shape) {
    extents.push_back(extent.text());
  }
  const bool is_output = tensor.role == tasks::Role::Output;
  return {{"name", tensor.name},
          {"role", to_string(tensor.role)},
          {"dtype", to_string(tensor.dtype)},
          {"shape", extents},
          {"values", is_output ? "" : tasks::distribution_text(tensor)},
          {"description", tensor.description}};
}

std::string tolerance_line(const json& tolerance) {
  if (tolerance.at("precision") == to_string(tasks::Precision::Int)) {
    return "tolerance: exact";
  }
  const double absolute = number_at(tolerance, "absolute");
  const std::string allowed = text_at(tolerance, "allowed");
  return fmt::format("tolerance ({}): ({}) * epsilon({}) * magnitude + half a unit in the last "
                     "place{}; rms ({}){}",
                     text_at(tolerance, "precision"), text_at(tolerance, "multiple"),
                     text_at(tolerance, "accumulate"),
                     absolute > 0 ? fmt::format(" + {:g}", absolute) : "",
                     text_at(tolerance, "norm_multiple"), allowed.empty() ? "" : "; " + allowed);
}

/// Why boards will rank no kernel of the task, and probable mistakes, for each kind of device. A
/// warning that holds for several devices appears once.
std::vector<std::string> warnings_of(const tasks::Task& task) {
  std::vector<std::string> warnings;
  for (const std::string& device : tasks::device_kinds()) {
    for (const std::string& doubt : tasks::doubts_of(task, device)) {
      if (std::find(warnings.begin(), warnings.end(), doubt) == warnings.end()) {
        warnings.push_back(doubt);
      }
    }
    const std::string why = tasks::why_timings_can_be_memorised(task, device);
    if (!why.empty()) {
      warnings.push_back(fmt::format("boards will rank no kernel on {}: {}", device, why));
    }
  }
  return warnings;
}

std::string scalar_line(const json& scalar) {
  const std::string low = tasks::scalar_text(scalar.at("low"));
  const std::string high = tasks::scalar_text(scalar.at("high"));
  const std::string description = text_at(scalar, "description");
  return fmt::format("scalar {} ({}): {}, on hidden shapes {}{}{}\n", text_at(scalar, "name"),
                     text_at(scalar, "dtype"), tasks::scalar_text(scalar.at("value")),
                     low == high ? low : fmt::format("from {} to {}", low, high),
                     description.empty() ? "" : "; ", description);
}

} // namespace

std::string task_list_text(const json& document) {
  return to_aligned_text(
      json_table(document.at("tasks"),
                 {{{"task"}, "name"}, {{"category"}, "category"}, {{"what"}, "title"}}),
      0);
}

json task_list_json(const std::vector<tasks::Task>& list) {
  json items = json::array();
  for (const tasks::Task& task : list) {
    items.push_back({{"name", task.name},
                     {"category", task.category},
                     {"title", task.title},
                     {"digest", task.digest},
                     {"folder", task.folder.string()}});
  }
  return {{"schema", "winnow.tasks"}, {"version", 1}, {"tasks", items}};
}

std::string task_text(const json& document) {
  const std::string description = text_at(document, "description");
  std::string text =
      fmt::format("{} ({}): {}\n\n{}\n\n", text_at(document, "name"), text_at(document, "category"),
                  text_at(document, "title"), trim(description));
  for (const json& axis : document.at("axes")) {
    text += fmt::format("axis {}: {}\n", text_at(axis, "name"), text_at(axis, "description"));
  }
  for (const json& scalar : document.at("scalars")) {
    text += scalar_line(scalar);
  }
  for (const json& tensor : document.at("tensors")) {
    if (const std::string values = text_at(tensor, "values"); !values.empty()) {
      text += fmt::format("values of {}: {}\n", text_at(tensor, "name"), values);
    }
  }
  text = wrap_lines(text, table_columns(), 2) + "\n" + tensor_lines(document.at("tensors")) + "\n";
  std::string below = shapes_text(document);
  if (const std::string origin = text_at(document, "origin"); !origin.empty()) {
    below += "\nmade from " + origin + "\n";
  }
  for (const json& flag : document.at("flags")) {
    below += "flag: " + flag.get<std::string>() + "\n";
  }
  for (const json& warning : document.at("warnings")) {
    below += "\nwarning: " + warning.get<std::string>() + "\n";
  }
  below += "\n" + tolerance_line(document.at("tolerance")) + "\n";
  below +=
      document.contains("reference") ? "reference: " + text_at(document, "reference") + "\n" : "";
  const std::string versus = text_at(document, "speedup_versus");
  below += versus.empty() ? "" : "speedups: against " + versus + "\n";
  const std::string on_cpu = text_at(document, "cpu_baseline");
  below += on_cpu.empty() ? "" : "speedups on the cpu: against " + on_cpu + "\n";
  for (const char* name : {"operations", "bytes", "folder", "digest"}) {
    below += fmt::format("{}: {}\n", name, text_at(document, name));
  }
  return text + wrap_lines(below, table_columns(), 2);
}

json task_json(const tasks::Task& task) {
  json document{{"schema", "winnow.task"},
                {"version", 2},
                {"name", task.name},
                {"category", task.category},
                {"title", task.title},
                {"description", task.description},
                {"digest", task.digest},
                {"folder", task.folder.string()},
                {"operations", task.operations.text()},
                {"bytes", task.bytes.text()},
                {"hidden_shapes", hidden_shapes(task)},
                {"origin", task.source.origin},
                {"flags", task.source.flags},
                {"warnings", warnings_of(task)}};
  if (task.torch) {
    document["reference"] = fmt::format("the module in reference.py, in {} mode, in float64",
                                        task.torch->training ? "training" : "evaluation");
  }
  store::put_versus(document, tasks::speedup_versus(task));
  if (!task.cpu_baseline.empty()) {
    document["cpu_baseline"] = tasks::kCpuBaselineFile;
  }
  document["tolerance"] = {{"precision", to_string(task.tolerance.precision)},
                           {"accumulate", to_string(task.tolerance.accumulate)},
                           {"multiple", task.tolerance.multiple.text()},
                           {"norm_multiple", task.tolerance.norm_multiple.text()},
                           {"absolute", task.tolerance.absolute},
                           {"nan", task.tolerance.nan_allowed},
                           {"allowed", tasks::allowed_text(task.tolerance)}};
  for (const char* list : {"axes", "scalars", "tensors", "shapes"}) {
    document[list] = json::array();
  }
  for (const tasks::Axis& axis : task.axes) {
    document["axes"].push_back({{"name", axis.name}, {"description", axis.description}});
  }
  for (const tasks::ScalarSpec& scalar : task.scalars) {
    document["scalars"].push_back({{"name", scalar.name},
                                   {"dtype", to_string(scalar.dtype)},
                                   {"value", scalar.value},
                                   {"low", scalar.low},
                                   {"high", scalar.high},
                                   {"description", scalar.description}});
  }
  for (const tasks::TensorSpec& tensor : task.tensors) {
    document["tensors"].push_back(tensor_json(tensor));
  }
  for (const tasks::Shape& shape : task.shapes) {
    if (!tasks::is_hidden(shape.set)) {
      document["shapes"].push_back({{"shape_id", shape.id},
                                    {"shape", to_string(shape)},
                                    {"shape_set", to_string(shape.set)},
                                    {"axes", shape.axes},
                                    {"scalars", shape.scalars},
                                    {"devices", shape.devices}});
    }
  }
  return document;
}

nlohmann::json served_list_json(const std::vector<tasks::Task>& list) {
  nlohmann::json document = task_list_json(list);
  for (nlohmann::json& task : document.at("tasks")) {
    task.erase("folder");
  }
  return document;
}

nlohmann::json served_task_json(const tasks::Task& task) {
  nlohmann::json document = task_json(task);
  document.erase("folder");
  return document;
}

} // namespace winnow::harness
