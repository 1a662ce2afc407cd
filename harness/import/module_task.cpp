#include "base/error.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "harness/import/import_modules.h"
#include "tasks/inputs/dtype.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

// A basic string of TOML: its escapes are those of JSON. Files of tasks are ASCII.
std::string quoted(const std::string& text) {
  return json(to_valid_utf8(text)).dump(-1, ' ', true);
}

std::string toml_value(const json& value);

std::string inline_list(const json& list) {
  std::vector<std::string> items;
  for (const json& item : list) {
    items.push_back(toml_value(item));
  }
  return "[" + join(items, ", ") + "]";
}

std::string inline_table(const json& table) {
  std::vector<std::string> items;
  for (const auto& [key, value] : table.items()) {
    items.push_back(key + " = " + toml_value(value));
  }
  return "{ " + join(items, ", ") + " }";
}

std::string toml_value(const json& value) {
  if (value.is_object()) {
    return inline_table(value);
  }
  if (value.is_array()) {
    return inline_list(value);
  }
  return value.is_string() ? quoted(value.get<std::string>()) : value.dump();
}

/// "batch_size * in_features"; "1" for a tensor without dimensions.
std::string elements(const json& tensor) {
  std::vector<std::string> factors;
  for (const json& extent : tensor.at("shape")) {
    factors.push_back(extent.is_string() ? extent.get<std::string>() : extent.dump());
  }
  return factors.empty() ? "1" : join(factors, " * ");
}

/// What a run does, where the description says it by itself: of a definition, which may not read
/// all of its inputs. Else nullptr.
const json* work_of(const json& description) {
  const auto found = description.find("work");
  return found == description.end() ? nullptr : &*found;
}

/// The values of the axes that are the same at all shapes with a time: all but the tiny ones.
std::map<std::string, std::int64_t> axes_without_change(const json& description) {
  std::map<std::string, std::int64_t> values = description.at("shapes").at("search").at(0);
  for (const auto& [set, shapes] : description.at("shapes").items()) {
    for (const json& shape : set == "tiny" ? json::array() : shapes) {
      std::erase_if(values, [&](const auto& axis) {
        return shape.at(axis.first).template get<std::int64_t>() != axis.second;
      });
    }
  }
  return values;
}

/// `numbers`: axes that stand as numbers, not as names.
std::string terms_of_tensors(const json& description,
                             const std::map<std::string, std::int64_t>& numbers) {
  std::map<std::string, std::int64_t> terms; // bytes by the axes that they are multiplied with
  for (const json& tensor : description.at("tensors")) {
    const auto dtype = tasks::dtype_from_string(tensor.at("dtype").get<std::string>());
    if (!dtype) {
      throw Error("a tensor has the dtype " + tensor.at("dtype").get<std::string>());
    }
    auto bytes = static_cast<std::int64_t>(tasks::size_bytes(*dtype));
    std::string axes;
    for (const json& extent : tensor.at("shape")) {
      if (extent.is_number()) {
        bytes *= extent.get<std::int64_t>();
      } else if (const auto number = numbers.find(extent.get<std::string>());
                 number != numbers.end()) {
        bytes *= number->second;
      } else {
        axes += " * " + extent.get<std::string>();
      }
    }
    terms[axes] += bytes;
  }
  std::vector<std::string> texts;
  for (const auto& [axes, bytes] : terms) {
    texts.push_back(fmt::format("{}{}", bytes, axes));
  }
  return join(texts, " + ");
}

/// "4 * batch * width + 40960": a term for each product of axes, because a network may have
/// hundreds of tensors and an expression may not. A long text is right where launches are timed: at
/// tiny shapes its constants are too large.
std::string bytes_of_tensors(const json& description) {
  if (const json* work = work_of(description)) {
    return work->at("bytes").get<std::string>();
  }
  constexpr std::size_t kLong = 1000;
  const std::string text = terms_of_tensors(description, {});
  return text.size() > kLong ? terms_of_tensors(description, axes_without_change(description))
                             : text;
}

std::int64_t count_at(const json& tensor, const json& axes) {
  std::int64_t count = 1;
  for (const json& extent : tensor.at("shape")) {
    const json& value = extent.is_string() ? axes.at(extent.get<std::string>()) : extent;
    count *= value.get<std::int64_t>();
  }
  return count;
}

/// An expression; without one, right at the first search shape, and elsewhere in proportion to the
/// elements that change from launch to launch.
std::string operations(const json& description) {
  if (const auto text = description.find("operations_text");
      text != description.end() && text->is_string()) {
    return text->get<std::string>();
  }
  const json& axes = description.at("shapes").at("search").at(0);
  if (const json* work = work_of(description)) {
    return fmt::format("{:.6f} * ({})", work->at("operations_each").get<double>(),
                       work->at("elements").get<std::string>());
  }
  std::vector<std::string> terms;
  std::int64_t total = 0;
  for (const json& tensor : description.at("tensors")) {
    if (!tensor.value("static", false)) {
      terms.push_back(elements(tensor));
      total += count_at(tensor, axes);
    }
  }
  const double each = description.at("operations").at(0).get<double>() / static_cast<double>(total);
  return fmt::format("{:.10g} * ({})", each, join(terms, " + "));
}

/// A constant such as padding = 0 is no size. The module keeps the value that its file gives it.
bool is_size(const json& description, const std::string& axis) {
  for (const auto& [set, shapes] : description.at("shapes").items()) {
    for (const json& shape : shapes) {
      if (shape.at(axis).get<std::int64_t>() < 1) {
        return false;
      }
    }
  }
  return true;
}

/// Which integers of the file an axis sets that has another name.
std::string knobs_text(const json& description) {
  const auto knobs = description.find("knobs");
  return knobs == description.end() || knobs->empty() ? ""
                                                      : "knobs = " + inline_table(*knobs) + "\n";
}

std::string axes_text(const json& description) {
  std::string text = "\n[axes]\n";
  for (const json& axis : description.at("axes")) {
    if (!is_size(description, axis.at("name"))) {
      continue;
    }
    text +=
        fmt::format("{} = {}\n", axis.at("name").get<std::string>(),
                    quoted(axis.value("fixed", false)
                               ? "the same at all search and hidden shapes, so a kernel may use "
                                 "it as a constant"
                               : "varies from shape to shape"));
  }
  return text;
}

std::string tensor_text(const json& tensor) {
  std::string text = fmt::format("\n[tensors.{}]\n", tensor.at("name").get<std::string>());
  for (const char* key :
       {"role", "dtype", "shape", "state", "static", "generator", "description"}) {
    const auto value = tensor.find(key);
    const bool is_set = value != tensor.end() && *value != "" && *value != false;
    if (is_set) {
      text += fmt::format("{} = {}\n", key, toml_value(*value));
    }
  }
  return text;
}

std::string scalar_text(const json& scalar) {
  std::string text = fmt::format("\n[scalars.{}]\n", scalar.at("name").get<std::string>());
  for (const char* key : {"dtype", "value", "low", "high"}) {
    text += fmt::format("{} = {}\n", key, toml_value(scalar.at(key)));
  }
  return text;
}

std::string tolerance_text(const json& description) {
  const json& tolerance = description.at("tolerance");
  if (tolerance.at("precision") == "int") { // integers are right or wrong
    return fmt::format("\n[tolerance]\nprecision = \"int\"\nreproducible = {}\n",
                       description.value("reproducible", false));
  }
  const auto number = [&](const char* key) {
    return quoted(fmt::format("{}", tolerance.at(key).get<double>()));
  };
  return fmt::format("\n[tolerance]\nprecision = {}\naccumulate = {}\nmultiple = {}\n"
                     "norm_multiple = {}\nreproducible = {}\n",
                     toml_value(tolerance.at("precision")), toml_value(tolerance.at("accumulate")),
                     number("multiple"), number("norm_multiple"),
                     description.value("reproducible", false));
}

std::string shapes_toml(const json& description) {
  std::string text;
  for (const char* set : {"tiny", "search", "promotion", "held_out"}) {
    for (const json& shape : description.at("shapes").at(set)) {
      text += fmt::format("\n[[shapes.{}]]\n", set);
      for (const auto& [axis, value] : shape.items()) {
        text += is_size(description, axis) ? fmt::format("{} = {}\n", axis, toml_value(value)) : "";
      }
    }
  }
  return text;
}

} // namespace

std::vector<std::string> module_flags(const json& description) {
  auto flags = description.value("flags", std::vector<std::string>());
  for (const json& mutant : description.value("mutants", json::array())) {
    std::string flag = "passes: " + mutant.at("name").get<std::string>();
    const bool is_new = std::find(flags.begin(), flags.end(), flag) == flags.end();
    if (mutant.value("passes", false) && is_new) {
      flags.push_back(std::move(flag));
    }
  }
  return flags;
}

std::string module_task_toml(const json& description, const ModuleOrigin& origin) {
  if (const std::string why = description.value("refused", ""); !why.empty()) {
    throw Error(why);
  }
  std::string text = fmt::format(
      "title = {}\ndescription = {}\noperations = {}\nbytes = {}\n\n"
      "[reference]\nkind = \"torch\"\nmode = {}\n{}\n[source]\norigin = {}\nflags = {}\n",
      quoted(description.value("title", "")),
      quoted(work_of(description) != nullptr
                 ? "The outputs of run() in reference.py."
                 : "The output of the PyTorch module Model in reference.py."),
      quoted(operations(description)), quoted(bytes_of_tensors(description)), quoted(origin.mode),
      knobs_text(description), quoted(origin.origin), toml_value(module_flags(description)));
  text += axes_text(description);
  for (const json& tensor : description.at("tensors")) {
    text += tensor_text(tensor);
  }
  for (const json& scalar : description.value("scalars", json::array())) {
    text += scalar_text(scalar);
  }
  return text + tolerance_text(description) + shapes_toml(description);
}

} // namespace winnow::harness
