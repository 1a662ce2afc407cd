// Reads and writes a task's golden.json.
#include "base/error.h"
#include "base/files.h"
#include "base/text/shell_word.h"
#include "harness/selftest/reference_agreement.h"
#include "tasks/catalogue.h"
#include "tasks/json/json_text.h"
#include "tasks/task/task_file.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr const char* kSchema = "winnow.golden";
constexpr std::uint64_t kMaxFileBytes = 16U << 20U;
constexpr std::int64_t kMaxOutputElements = 4096;

std::int64_t output_elements(const ReferenceSample& sample) {
  std::int64_t elements = 0;
  for (const auto& [name, output] : sample.outputs) {
    elements += output.count();
  }
  return elements;
}

json sample_json(const ReferenceSample& sample) {
  json outputs = json::object();
  for (const auto& [name, output] : sample.outputs) {
    json& numbers = outputs[name] = json::array();
    for (std::int64_t i = 0; i < output.count(); ++i) {
      numbers.push_back(tasks::number_json(output.at(i)));
    }
  }
  return {{"shape", sample.shape.id},
          {"axes", sample.shape.axes},
          {"scalars", sample.shape.scalars},
          {"seed", sample.seed},
          {"arithmetic", sample.float64 ? "float64" : "task"},
          {"outputs", outputs}};
}

tasks::Shape shape_of(const tasks::Task& task, const json& sample) {
  const std::string id = sample.at("shape").get<std::string>();
  for (const tasks::Shape& shape : task.shapes) {
    if (shape.id == id && json(shape.axes) == sample.at("axes") &&
        json(shape.scalars) == sample.at("scalars")) {
      return shape;
    }
  }
  throw UsageError("the task no longer has the shape " + id + " with these axes and scalars");
}

tasks::HostTensor output_of(const tasks::Task& task, const tasks::Shape& shape, bool float64,
                            const std::string& name, const json& numbers) {
  const tasks::TensorSpec* known = task.find_tensor(name);
  if (known == nullptr || known->role == tasks::Role::Input) {
    throw UsageError("'" + name + "' is not an output of the task");
  }
  tasks::TensorSpec tensor = *known;
  if (float64 && tasks::is_floating(tensor.dtype)) {
    tensor.dtype = tasks::DType::F64;
  }
  tasks::HostTensor output = tasks::unset_tensor(tensor, task, shape);
  if (!numbers.is_array() || static_cast<std::int64_t>(numbers.size()) != output.count()) {
    throw UsageError(fmt::format("output '{}' at {} has {} numbers, expected {}", name, shape.id,
                                 numbers.size(), output.count()));
  }
  for (std::int64_t i = 0; i < output.count(); ++i) {
    output.set(i, tasks::number_of(numbers.at(static_cast<std::size_t>(i))));
  }
  return output;
}

ReferenceSample sample_of(const tasks::Task& task, const json& document) {
  ReferenceSample sample;
  sample.shape = shape_of(task, document);
  sample.seed = document.at("seed").get<std::uint64_t>();
  sample.float64 = document.at("arithmetic").get<std::string>() == "float64";
  for (const auto& [name, numbers] : document.at("outputs").items()) {
    sample.outputs.emplace(name, output_of(task, sample.shape, sample.float64, name, numbers));
  }
  for (const tasks::TensorSpec& tensor : task.tensors) {
    if (tensor.role != tasks::Role::Input && !sample.outputs.contains(tensor.name)) {
      throw UsageError(fmt::format("output '{}' at {} is missing", tensor.name, sample.shape.id));
    }
  }
  return sample;
}

} // namespace

std::string golden_command(const tasks::Task& task) {
  const std::vector<tasks::CatalogueEntry> entries = tasks::list_tasks(tasks::find_catalogue());
  const bool listed = std::any_of(entries.begin(), entries.end(),
                                  [&](const auto& entry) { return entry.folder == task.folder; });
  const std::string name = listed ? task.category + "/" + task.name : task.folder.string();
  return "winnow tasks selftest --write-golden " + shell_word(name);
}

std::filesystem::path golden_file(const tasks::Task& task) {
  return task.folder / "golden.json";
}

std::optional<ReferenceSamples> read_golden(const tasks::Task& task) {
  const std::filesystem::path path = golden_file(task);
  if (!std::filesystem::exists(path)) {
    return std::nullopt;
  }
  return parse_golden(task, tasks::read_task_file(task.folder, path, kMaxFileBytes), path.string());
}

ReferenceSamples parse_golden(const tasks::Task& task, const std::string& text,
                              const std::string& file) {
  try {
    const json document = json::parse(text);
    if (document.at("schema") != kSchema || document.at("version") != 1) {
      throw UsageError(fmt::format("the file is not of schema {}, version 1", kSchema));
    }
    ReferenceSamples result{document.at("torch").get<std::string>(), {}, {}};
    for (const json& sample : document.at("samples")) {
      result.samples.push_back(sample_of(task, sample));
    }
    return result;
  } catch (const std::invalid_argument& error) { // from number_of()
    throw UsageError(file + ": " + error.what(), "write the file anew: " + golden_command(task));
  } catch (const json::exception& error) {
    throw UsageError(file + ": " + error.what(), "write the file anew: " + golden_command(task));
  } catch (const UsageError& error) {
    throw UsageError(file + ": " + error.what(), "write the file anew: " + golden_command(task));
  }
}

std::string golden_text(const ReferenceSamples& samples) {
  json stored = json::array();
  for (const ReferenceSample& sample : samples.samples) {
    if (output_elements(sample) <= kMaxOutputElements) {
      stored.push_back(sample_json(sample));
    }
  }
  const json document{
      {"schema", kSchema}, {"version", 1}, {"torch", samples.torch}, {"samples", stored}};
  return document.dump() + "\n";
}

} // namespace winnow::harness
