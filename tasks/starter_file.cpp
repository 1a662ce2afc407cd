#include "tasks/starter_file.h"

#include "base/text.h"
#include "tasks/task_word.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

constexpr std::size_t kColumns = 97; // without "// "

std::string comment(const std::string& text) {
  std::string lines;
  for (const std::string_view line : split_lines(trim(text))) {
    for (const std::string& part : wrap_words(line, kColumns)) {
      lines += "// " + part + "\n";
    }
  }
  return lines;
}

std::string extents_text(const TensorSpec& tensor, const char* separator) {
  std::vector<std::string> extents;
  for (const Expression& extent : tensor.shape) {
    const bool simple = is_identifier(extent.text()) || separator == std::string_view(", ");
    extents.push_back(simple ? extent.text() : "(" + extent.text() + ")");
  }
  return join(extents, separator);
}

/// The headers that define the types of the tensors.
std::string include_lines(const Task& task) {
  std::set<std::string_view> headers;
  for (const TensorSpec& tensor : task.tensors) {
    headers.insert(row_of(tensor.dtype).header);
  }
  headers.erase("");
  std::string lines;
  for (const std::string_view header : headers) {
    lines += fmt::format("#include <{}>\n", header);
  }
  return lines.empty() ? lines : lines + "\n";
}

std::string tensor_comment(const TensorSpec& tensor) {
  return comment(fmt::format("{}: {}, {} [{}]{}{}{}", tensor.name, to_string(tensor.role),
                             to_string(tensor.dtype), extents_text(tensor, ", "),
                             tensor.is_static ? ", the same over many runs" : "",
                             tensor.description.empty() ? "" : "; ", tensor.description));
}

std::string about_task(const Task& task) {
  std::string text = comment(task.title + ".") + comment(task.description) + "//\n";
  for (const TensorSpec& tensor : task.tensors) {
    text += tensor_comment(tensor);
  }
  for (const std::string_view sentence : code_sentences(task)) {
    text += comment(std::string(sentence));
  }
  for (const ScalarSpec& scalar : task.scalars) {
    text += comment(fmt::format("{}: scalar, {}{}{}", scalar.name, to_string(scalar.dtype),
                                scalar.description.empty() ? "" : "; ", scalar.description));
  }
  for (const Axis& axis : task.axes) {
    text += comment(fmt::format("{}: {}", axis.name, axis.description));
  }
  return text;
}

const TensorSpec& first_output(const Task& task) {
  return *std::find_if(task.tensors.begin(), task.tensors.end(),
                       [](const TensorSpec& tensor) { return tensor.role != Role::Input; });
}

/// The parameters of the kernel in C++, in the order of the plan's arguments.
std::vector<std::string> parameters_of(const Task& task) {
  std::vector<std::string> parameters;
  for (const TensorSpec& tensor : task.tensors) {
    parameters.push_back(fmt::format("{}{}* __restrict__ {}",
                                     tensor.role == Role::Input ? "const " : "",
                                     device_type_name(tensor.dtype), tensor.name));
  }
  for (const ScalarSpec& scalar : task.scalars) {
    parameters.push_back(fmt::format("{} {}", device_type_name(scalar.dtype), scalar.name));
  }
  for (const Axis& axis : task.axes) {
    parameters.push_back("long long " + axis.name);
  }
  return parameters;
}

std::vector<std::string> arguments_of(const Task& task) {
  std::vector<std::string> arguments;
  const auto add = [&](const auto& entries) {
    for (const auto& entry : entries) {
      arguments.push_back("\"" + entry.name + "\"");
    }
  };
  add(task.tensors);
  add(task.scalars);
  add(task.axes);
  return arguments;
}

} // namespace

std::string starter_file(const Task& task) {
  const std::string kernel = is_identifier(task.name) ? task.name + "_kernel" : "kernel";
  const TensorSpec& output = first_output(task);
  const std::string count = output.shape.empty() ? "1" : extents_text(output, " * ");
  return fmt::format(
      R"text(/*@winnow
{{
  "params": {{ "BLOCK": [256, 128, 512] }},
  "launches": [
    {{ "kernel": "{0}<{{BLOCK}}>", "grid": ["ceil_div({1}, BLOCK)"], "block": ["BLOCK"],
      "args": [{2}] }}
  ]
}}
@*/
{3}//
// To do: write the kernel below. The plan above starts one thread for each element of '{4}': change
// grid, block and args as the kernel needs them (docs/kernel_file.md). Winnow tries the values of
// BLOCK, and the first one is the default. Then: winnow eval {5} FILE

{6}template <int BLOCK>
__global__ void {0}({7}) {{
  const long long i = blockIdx.x * (long long)BLOCK + threadIdx.x;
  if (i < {1}) {{
    // To do: compute element i of '{4}', and of every other output.
  }}
}}
)text",
      kernel, count, join(arguments_of(task), ", "), about_task(task), output.name, task_word(task),
      include_lines(task), join(parameters_of(task), ",\n    "));
}

} // namespace winnow::tasks
