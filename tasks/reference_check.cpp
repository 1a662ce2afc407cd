#include "tasks/reference_check.h"

#include "base/error.h"
#include "base/text.h"
#include "tasks/reference/python_outline.h"
#include "tasks/skeleton/skeleton.h"
#include "tasks/task/baseline.h"
#include "tasks/task_word.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

constexpr const char* kPython = "reference.py";

std::string place_in(const Task& task, const char* file, int line) {
  return fmt::format("{}:{}", (task.folder / file).string(), line);
}

/// "task.toml:3" for each line with a mark.
std::vector<std::string> places_to_fill(const Task& task) {
  const TaskTexts texts = task_texts(task);
  const std::pair<const char*, const std::string*> files[] = {
      {"task.toml", &texts.task_toml},
      {kPython, &texts.reference_python},
      {"reference.cu", &texts.reference},
      {kBaselineFile, &texts.baseline},
      {kCpuBaselineFile, &texts.cpu_baseline}};
  std::vector<std::string> places;
  for (const auto& [name, text] : files) {
    int line = 0;
    for (const std::string_view words : split_lines(*text)) {
      ++line;
      if (words.find(kToDo) != std::string_view::npos) {
        places.push_back(fmt::format("{}:{}", name, line));
      }
    }
  }
  return places;
}

void check_filled(const Task& task) {
  std::vector<std::string> places = places_to_fill(task);
  if (places.empty()) {
    return;
  }
  const std::string first = (task.folder / places.front()).string();
  places.erase(places.begin());
  throw UsageError(
      fmt::format("{}: this place is still to be filled, and models read the file{}{}", first,
                  places.empty() ? "" : "; also ", join(places, ", ")),
      fmt::format("write what each mark '{}' asks for, remove the mark, and prove the task: "
                  "winnow tasks selftest {}",
                  kToDo, task_word(task)));
}

std::vector<std::string> inputs_of(const Task& task) {
  std::vector<std::string> names;
  for (const TensorSpec& tensor : task.tensors) {
    if (tensor.role != Role::Output) {
      names.push_back(tensor.name);
    }
  }
  return names;
}

std::vector<std::string> scalars_of(const Task& task) {
  auto names = each<std::string>(task.scalars, &ScalarSpec::name);
  return names;
}

std::string words(const std::vector<std::string>& names) {
  return names.empty() ? "none" : join(names, ", ");
}

/// Throws if the function cannot take these values in this order.
void check_taken(const Task& task, const PythonFunction& function, const char* name,
                 const std::vector<std::string>& wanted, const char* kind) {
  const std::vector<std::string>& has = function.parameters;
  const bool fits =
      function.required <= wanted.size() && (wanted.size() <= has.size() || function.takes_any);
  const bool is_other_order =
      has != wanted && std::is_permutation(has.begin(), has.end(), wanted.begin(), wanted.end());
  if (!fits || is_other_order) {
    throw UsageError(
        fmt::format("{}: {}() takes {}, but task.toml has {}{}: {}",
                    place_in(task, kPython, function.line), name, words(has), kind,
                    is_other_order ? " in another order" : "", words(wanted)),
        fmt::format("make the parameters of {}() the {} of task.toml, in their order", name, kind));
  }
}

void check_count(const Task& task, const PythonFunction& function, const char* name,
                 std::size_t wanted, const char* kind) {
  if (function.returned && *function.returned != wanted) {
    throw UsageError(fmt::format("{}: {}() returns {} values, but task.toml has {} {}",
                                 place_in(task, kPython, function.return_line), name,
                                 *function.returned, wanted, kind),
                     fmt::format("return one value for each of the {} of task.toml", kind));
  }
}

void check_signature(const Task& task) {
  const std::string& python = task.reference_python;
  const std::vector<std::string> inputs = inputs_of(task), scalars = scalars_of(task);
  const auto forward = find_python_function(python, "Model", "forward");
  if (!forward) {
    throw UsageError(fmt::format("{}: there is no class Model with a function forward()",
                                 place_in(task, kPython, 1)),
                     "write the operation as docs/baselines.md says");
  }
  const auto outputs = static_cast<std::size_t>(
      std::count_if(task.tensors.begin(), task.tensors.end(),
                    [](const TensorSpec& tensor) { return tensor.role != Role::Input; }));
  check_taken(task, *forward, "forward", inputs, "input tensors");
  check_count(task, *forward, "forward", outputs, "output tensors");
  if (const auto init = find_python_function(python, "Model", "__init__")) {
    check_taken(task, *init, "__init__", scalars, "scalars");
  }
  if (const auto values = find_python_function(python, "", "get_init_inputs")) {
    check_count(task, *values, "get_init_inputs", scalars.size(), "scalars");
  }
  if (const auto tensors = find_python_function(python, "", "get_inputs")) {
    check_count(task, *tensors, "get_inputs", inputs.size(), "input tensors");
  }
}

} // namespace

void check_reference(const Task& task) {
  if (!task.source.origin.empty() || task.torch) {
    return; // the files are another's, and the module itself is the reference
  }
  check_filled(task);
  check_signature(task);
}

} // namespace winnow::tasks
