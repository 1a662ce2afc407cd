#include "harness/report/task_report.h"

#include "base/text.h"
#include "store/text_table.h"
#include "tasks/doubts.h"
#include "tasks/memorisable.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

std::string shape_text(const tasks::TensorSpec& tensor) {
  std::vector<std::string> extents;
  for (const tasks::Expression& extent : tensor.shape) {
    extents.push_back(extent.text());
  }
  return "[" + join(extents, ", ") + "]";
}

std::size_t hidden_shapes(const tasks::Task& task) {
  std::size_t count = 0;
  for (const tasks::Shape& shape : task.shapes) {
    count += tasks::is_hidden(shape.set) ? 1 : 0;
  }
  return count;
}

std::string tensor_lines(const tasks::Task& task) {
  store::TextTable table;
  table.columns = {{"tensor"}, {"role"}, {"dtype"}, {"shape"}, {"description"}};
  for (const tasks::TensorSpec& tensor : task.tensors) {
    table.rows.push_back({tensor.name, std::string(to_string(tensor.role)),
                          std::string(to_string(tensor.dtype)), shape_text(tensor),
                          tensor.description});
  }
  return to_aligned_text(table, 0);
}

std::string shape_lines(const tasks::Task& task) {
  std::string text = "shapes\n";
  for (const tasks::Shape& shape : task.shapes) {
    if (!tasks::is_hidden(shape.set)) {
      text += fmt::format("  {:<10} {}{}\n", shape.id, to_string(shape),
                          shape.devices.empty() ? "" : " (" + join(shape.devices, ", ") + " only)");
    }
  }
  return text + fmt::format("  and {} hidden ones\n", hidden_shapes(task));
}

json tensor_json(const tasks::TensorSpec& tensor) {
  json extents = json::array();
  for (const tasks::Expression& extent : tensor.shape) {
    extents.push_back(extent.text());
  }
  return {{"name", tensor.name},
          {"role", to_string(tensor.role)},
          {"dtype", to_string(tensor.dtype)},
          {"shape", extents},
          {"description", tensor.description}};
}

std::string tolerance_line(const tasks::Tolerance& tolerance) {
  if (tolerance.precision == tasks::Precision::Int) {
    return "tolerance: exact";
  }
  return fmt::format("tolerance ({}): ({}) * epsilon({}) * magnitude + half a unit in the last "
                     "place{}; rms ({})",
                     to_string(tolerance.precision), tolerance.multiple.text(),
                     to_string(tolerance.accumulate),
                     tolerance.absolute > 0 ? fmt::format(" + {:g}", tolerance.absolute) : "",
                     tolerance.norm_multiple.text());
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

std::string hidden_range(const tasks::ScalarSpec& scalar) {
  return scalar.low == scalar.high
             ? fmt::format(", on hidden shapes {}", tasks::scalar_text(scalar.low))
             : fmt::format(", on hidden shapes from {} to {}", tasks::scalar_text(scalar.low),
                           tasks::scalar_text(scalar.high));
}

} // namespace

std::string task_list_text(const std::vector<tasks::Task>& list) {
  store::TextTable table;
  table.columns = {{"task"}, {"category"}, {"what"}};
  for (const tasks::Task& task : list) {
    table.rows.push_back({task.name, task.category, task.title});
  }
  return to_aligned_text(table, 0);
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

std::string task_text(const tasks::Task& task) {
  std::string text = fmt::format("{} ({}): {}\n\n{}\n\n", task.name, task.category, task.title,
                                 trim(task.description));
  for (const tasks::Axis& axis : task.axes) {
    text += fmt::format("axis {}: {}\n", axis.name, axis.description);
  }
  for (const tasks::ScalarSpec& scalar : task.scalars) {
    text += fmt::format("scalar {} ({}): {}{}{}\n", scalar.name, to_string(scalar.dtype),
                        tasks::scalar_text(scalar.value), hidden_range(scalar),
                        scalar.description.empty() ? "" : "; " + scalar.description);
  }
  text = wrap_lines(text, store::table_columns(), 2) + "\n" + tensor_lines(task) + "\n";
  std::string below = shape_lines(task);
  for (const std::string& warning : warnings_of(task)) {
    below += "\nwarning: " + warning + "\n";
  }
  below += fmt::format("\n{}\noperations: {}\nbytes: {}\n"
                       "folder: {}\ndigest: {}\n",
                       tolerance_line(task.tolerance), task.operations.text(), task.bytes.text(),
                       task.folder.string(), task.digest);
  return text + wrap_lines(below, store::table_columns(), 2);
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
                {"warnings", warnings_of(task)}};
  document["tolerance"] = {{"precision", to_string(task.tolerance.precision)},
                           {"accumulate", to_string(task.tolerance.accumulate)},
                           {"multiple", task.tolerance.multiple.text()},
                           {"norm_multiple", task.tolerance.norm_multiple.text()},
                           {"absolute", task.tolerance.absolute},
                           {"nan", task.tolerance.nan_allowed}};
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
                                    {"shape_set", to_string(shape.set)},
                                    {"axes", shape.axes},
                                    {"scalars", shape.scalars},
                                    {"devices", shape.devices}});
    }
  }
  return document;
}

} // namespace winnow::harness
