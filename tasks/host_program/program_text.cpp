#include "tasks/host_program/program_text.h"

#include "base/embedded_file.h"
#include "base/error.h"
#include "base/text.h"
#include "tasks/host_program/expression_cpp.h"
#include "tasks/host_program/plan_cpp.h"
#include "tasks/inputs/input_generator.h"
#include "tasks/plan/architecture.h"
#include "tasks/plan/tuning/parameter_choices.h"
#include "tasks/reference/narrowing.h"
#include "tasks/task/generator_text.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

namespace winnow::host_program_files {
const std::vector<winnow::EmbeddedFile>& embedded_files();
}

namespace winnow::tasks {
namespace {

constexpr const char* kIncludes = R"(#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <sys/types.h>

#include <cuda.h>
#include <cuda_runtime.h>
)";

bool is_directive(std::string_view line, std::string_view name) {
  line = trim(line);
  return line.starts_with('#') && trim(line.substr(1)).starts_with(name);
}

bool fits_int(std::int64_t value) {
  return value == static_cast<std::int64_t>(static_cast<std::int32_t>(value));
}

/// Device code sees each parameter as a constant, or as a macro if a directive tests it.
std::string parameter_lines(const KernelFile& file, const ParameterChoice& choice) {
  std::string text;
  const std::vector<std::string_view> lines = split_lines(file.source);
  for (const auto& entry : choice) {
    const auto& name = entry.first;
    const std::int64_t value = entry.second;
    const bool tested = std::any_of(lines.begin(), lines.end(), [&](std::string_view line) {
      return (is_directive(line, "if") || is_directive(line, "elif")) && has_word(line, name);
    });
    text += tested ? fmt::format("#define {} {}\n", name, value)
                   : fmt::format("[[maybe_unused]] constexpr {} {} = {};\n",
                                 fits_int(value) ? "int" : "long long", name, value);
  }
  return text;
}

/// The namespace that keeps the reference's names apart from the kernel's.
std::string reference_namespace(const KernelFile& file, const ParameterChoice& choice) {
  std::string includes, code;
  for (const std::string_view line : split_lines(file.source)) {
    (is_directive(line, "include") ? includes : code) += std::string(line) + "\n";
  }
  return includes + "namespace reference {\n" + parameter_lines(file, choice) +
         std::string(trim(code)) + "\n} // namespace reference\n";
}

KernelFile parsed_reference(const Task& task) {
  KernelFileResult parsed = parse_kernel_file(plain_reference(task), "reference.cu");
  if (!parsed.kernel_file) {
    throw Error("task " + task.name + ": " + to_string(parsed.errors.front()));
  }
  return std::move(*parsed.kernel_file);
}

/// The name that "#define NAME ..." defines; empty: the line is no such directive.
std::string_view defined_name(std::string_view line) {
  if (!is_directive(line, "define")) {
    return {};
  }
  const std::string_view rest = trim(trim(trim(line).substr(1)).substr(6));
  const auto end = std::find_if(rest.begin(), rest.end(),
                                [](char c) { return !is_identifier(std::string("_") + c); });
  return rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
}

/// Macros of the kernel must not change the program after it.
std::string undefined_names(const KernelFile& file) {
  std::set<std::string_view> names;
  for (const Parameter& parameter : file.plan.parameters) {
    names.insert(parameter.name);
  }
  for (const std::string_view line : split_lines(file.source)) {
    names.insert(defined_name(line));
  }
  names.erase("");
  std::string text;
  for (const std::string_view name : names) {
    text += fmt::format("#undef {}\n", name);
  }
  return text;
}

std::string range_text(const NumberRange& range) {
  return range.varies()
             ? fmt::format("{{{}, {}}}", real_literal(range.low), real_literal(range.high))
             : real_literal(range.low);
}

std::string generator_text(const TensorSpec& tensor, const Shape& shape) {
  if (tensor.role == Role::Output) {
    return "{}";
  }
  const GeneratorSpec spec = generator_at(tensor, shape);
  return fmt::format("{{winnow::tasks::GeneratorSpec::Kind::{}, {}, {}, {{{}ULL, {}ULL, {}ULL}}, "
                     "{}}}",
                     row_of(spec.kind).enumerator, range_text(spec.a), range_text(spec.b),
                     spec.csr.rows, spec.csr.columns, spec.csr.pointers_hash, range_text(spec.c));
}

std::string limits_text(const Tolerance& tolerance, const TensorSpec& tensor, const Scope& scope) {
  if (tensor.role == Role::Input) {
    return "{}";
  }
  const bool exact = !is_floating(tensor.dtype);
  const double multiple = exact ? 0 : tolerance.multiple.evaluate_float(scope);
  const double norm = exact ? 0 : tolerance.norm_multiple.evaluate_float(scope);
  return fmt::format("{{{}, {}, {}, {}, {}, {}, {}}}", real_literal(multiple), real_literal(norm),
                     real_literal(epsilon(tolerance.accumulate)),
                     real_literal(exact ? 0 : epsilon(tensor.dtype) / 2),
                     real_literal(tolerance.absolute), tolerance.nan_allowed, exact);
}

std::string sizes_text(const Task& task, const Shape& shape) {
  auto values = each<std::string>(
      task.axes, [&](const Axis& axis) { return std::to_string(shape.axes.at(axis.name)); });
  for (const ScalarSpec& scalar : task.scalars) {
    const double value = shape.scalars.at(scalar.name);
    values.push_back(is_floating(scalar.dtype) ? real_literal(value)
                                               : fmt::format("{:.0f}", value));
  }
  return "{" + join(values, ", ") + "}";
}

std::string shape_text(const Task& task, const Shape& shape) {
  Scope scope;
  bind_shape(task, shape, scope);
  std::string text = fmt::format("    {{\"{} ({})\",\n     {},\n     {{\n", shape.id,
                                 to_string(shape), sizes_text(task, shape));
  for (const TensorSpec& tensor : task.tensors) {
    text += fmt::format("         {{{}, {}, {}ULL, {}}},\n", element_count(tensor, shape),
                        generator_text(tensor, shape), hash_name(tensor.name),
                        limits_text(task.tolerance, tensor, scope));
  }
  return text + "     }},\n";
}

const char* role_name(Role role) {
  return role == Role::Input ? "Input" : role == Role::Output ? "Output" : "InOut";
}

int index_of(const Task& task, const std::string& tensor) {
  const TensorSpec* found = task.find_tensor(tensor);
  return found == nullptr ? -1 : static_cast<int>(found - task.tensors.data());
}

/// `other`: the view on the same tensors in which `reference` is an index.
std::string tensors_text(const char* name, const Task& view, const Task& other) {
  std::string text = fmt::format("const std::vector<plan::Tensor> {} = {{\n", name);
  for (const TensorSpec& tensor : view.tensors) {
    int reference = index_of(other, tensor.name);
    if (reference < 0 && tensor.name.ends_with(kMagnitudeSuffix)) { // as large as its tensor
      reference =
          index_of(other, tensor.name.substr(0, tensor.name.size() - kMagnitudeSuffix.size()));
    }
    text += fmt::format("    {{\"{}\", {}, {}, plan::Role::{}, {}, {}, {}}},\n", tensor.name,
                        dtype_cpp(tensor.dtype), size_bytes(tensor.dtype), role_name(tensor.role),
                        tensor.is_static, reference,
                        index_of(other, tensor.name + std::string(kMagnitudeSuffix)));
  }
  return text + "};\n";
}

} // namespace

bool has_word(std::string_view line, std::string_view word) {
  const auto in_word = [&](std::size_t at) {
    return at < line.size() && is_identifier(std::string("_") + line[at]);
  };
  for (auto at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    if ((at == 0 || !in_word(at - 1)) && !in_word(at + word.size())) {
      return true;
    }
  }
  return false;
}

std::string includes_text() {
  std::string text = kIncludes;
  for (const std::string_view header : dtype_headers()) { // an older CUDA lacks the newest ones
    text += fmt::format("#if __has_include(<{0}>)\n#include <{0}>\n#endif\n", header);
  }
  return text + "\n";
}

std::string support_text(const std::vector<std::string_view>& files) {
  std::string text;
  for (const EmbeddedFile& file : host_program_files::embedded_files()) {
    if (!contains(files, file.path)) {
      continue;
    }
    for (const std::string_view line : split_lines(file.text)) {
      const bool is_own = line.starts_with("#pragma once") || line.starts_with("#include \"");
      text += is_own ? "" : std::string(line) + "\n";
    }
    text += "\n";
  }
  return text;
}

std::string kernel_text(const HostProgram& program, std::ptrdiff_t lines_before, const char* file) {
  std::string text = "\n// ---- the kernel\n" + parameter_lines(program.file, program.choice) +
                     "#line 1 \"kernel.cu\"\n" + program.file.source + "\n";
  text += fmt::format("#line {} \"{}\"\n",
                      lines_before + std::count(text.begin(), text.end(), '\n') + 2, file);
  return text + undefined_names(program.file) + "\n// ---- the launch plan\n" +
         plan_cpp({program.file, program.task, program.choice, program.shapes, program.facts},
                  "KernelPlan", "::");
}

std::string reference_text(const HostProgram& program) {
  const Task view = reference_view(program.task);
  const KernelFile reference = parsed_reference(program.task);
  const ParameterChoice choice = choice_with(reference.plan, {}).value_or(ParameterChoice{});
  return "// ---- the task's reference\n" + reference_namespace(reference, choice) + "\n" +
         plan_cpp({reference, view, choice, program.shapes}, "ReferencePlan", "::reference::");
}

std::string shapes_text(const HostProgram& program) {
  const Task view = reference_view(program.task);
  std::string text = "\n// ---- the shapes\n" + tensors_text("kTensors", program.task, view) +
                     tensors_text("kReferenceTensors", view, program.task) +
                     "const std::vector<plan::Shape<plan::Sizes>> kShapes = {\n";
  for (const Shape& shape : program.shapes) {
    text += shape_text(program.task, shape);
  }
  return text + "};\n";
}

std::string one_line(const std::string& text) {
  std::string line = to_valid_utf8(text);
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return (c >= 0 && c < ' ') || c == '\\' || c == '\x7f'; }, ' ');
  return line;
}

bool has_nvidia_target(const HostProgram& program) {
  return program.architecture.starts_with("sm_") && is_architecture(program.architecture);
}

std::vector<std::string> compiler_options(const HostProgram& program) {
  std::vector<std::string> options{"-O3", "--expt-relaxed-constexpr"};
  // nvcc compiles -arch=sm_90a for sm_90, too, which lacks the instructions of sm_90a.
  if (has_nvidia_target(program)) {
    options.push_back(
        fmt::format("-gencode=arch=compute_{0},code=sm_{0}", program.architecture.substr(3)));
  }
  if (uses_fast_math(program.file.plan, program.choice)) {
    options.emplace_back("--use_fast_math");
  }
  return options;
}

} // namespace winnow::tasks
