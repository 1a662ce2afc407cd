#include "tasks/mutants.h"

#include "tasks/mutant_edits.h"

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

bool is_read(const TensorSpec& tensor) {
  return tensor.role != Role::Output;
}
bool is_written(const TensorSpec& tensor) {
  return tensor.role != Role::Input;
}
bool is_rounded_by_kernels(DType type) {
  return type == DType::F32 || type == DType::F16 || type == DType::BF16;
}

double epsilon_of(MutantKind kind) {
  return epsilon(kind == MutantKind::RoundedTf32   ? Precision::TF32
                 : kind == MutantKind::RoundedBf16 ? Precision::BF16
                                                   : Precision::F8E4M3);
}

// Coarser than what the task asks for, and than the input itself.
bool is_too_coarse(MutantKind kind, const Task& task, const TensorSpec& tensor) {
  return is_read(tensor) && is_rounded_by_kernels(tensor.dtype) &&
         epsilon_of(kind) > epsilon(task.tolerance.precision) &&
         epsilon_of(kind) > epsilon(tensor.dtype);
}

double rounded(MutantKind kind, double value) {
  if (kind == MutantKind::RoundedTf32) {
    return rounded_to_tf32(value);
  }
  const DType type = kind == MutantKind::RoundedBf16 ? DType::BF16 : DType::F8E4M3;
  std::byte bytes[2];
  store_element(type, bytes, value);
  return load_element(type, bytes);
}

void add_tensor_mutants(const TensorSpec& tensor, std::vector<Mutant>& mutants) {
  for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    if (is_read(tensor)) {
      mutants.push_back({MutantKind::Truncated, tensor.name, axis, true});
      mutants.push_back({MutantKind::HardCodedShape, tensor.name, axis, true});
    }
    if (is_written(tensor)) {
      mutants.push_back({MutantKind::EdgeOffByOne, tensor.name, axis, false});
    }
  }
  for (const bool reads : {true, false}) {
    if (reads ? !is_read(tensor) : !is_written(tensor)) {
      continue;
    }
    mutants.push_back({MutantKind::BlockSkipped, tensor.name, 0, reads});
    if (tensor.shape.size() >= 2) {
      mutants.push_back({MutantKind::Transposed, tensor.name, 0, reads});
    }
  }
  if (is_written(tensor)) {
    mutants.push_back({MutantKind::Unwritten, tensor.name, 0, false});
    mutants.push_back({MutantKind::HardCodedShape, tensor.name, 0, false});
  }
}

std::string round_inputs(MutantKind kind, const Task& task, HostTensors& inputs) {
  bool changed = false;
  for (const TensorSpec& tensor : task.tensors) {
    if (!is_too_coarse(kind, task, tensor)) {
      continue;
    }
    HostTensor& input = inputs.at(tensor.name);
    for (std::int64_t i = 0; i < input.count(); ++i) {
      const double value = input.at(i);
      const double coarse = rounded(kind, value);
      changed = changed || coarse != value;
      input.set(i, coarse);
    }
  }
  return changed ? "" : "the inputs are exact in it";
}

std::string hard_code_scalar(const Mutant& mutant, const Task& task, Shape& shape) {
  for (const ScalarSpec& scalar : task.scalars) {
    if (scalar.name == mutant.name && shape.scalars.at(scalar.name) != scalar.value) {
      shape.scalars[scalar.name] = scalar.value;
      return "";
    }
  }
  return "the scalar has its default value";
}

std::string set_zeros(HostTensors& outputs) {
  for (auto& [name, output] : outputs) {
    keep_first(output, 0, 0);
  }
  return "";
}

std::string copy_input(const HostTensors& inputs, HostTensors& outputs) {
  bool changed = false;
  for (auto& [name, output] : outputs) {
    for (const auto& [input_name, input] : inputs) {
      if (input.count() == output.count() && output.count() > 1) {
        for (std::int64_t i = 0; i < output.count(); ++i) {
          output.set(i, input.at(i));
        }
        changed = true;
        break;
      }
    }
  }
  return changed ? "" : "no input has as many elements as an output, and more than one";
}

std::string set_mean(HostTensors& outputs) {
  bool changed = false;
  for (auto& [name, output] : outputs) {
    if (output.count() < 2) {
      continue;
    }
    double sum = 0;
    for (std::int64_t i = 0; i < output.count(); ++i) {
      sum += output.at(i);
    }
    for (std::int64_t i = 0; i < output.count(); ++i) {
      output.set(i, sum / static_cast<double>(output.count()));
    }
    changed = true;
  }
  return changed ? "" : "outputs of one element";
}

} // namespace

std::string_view to_string(MutantKind kind) {
  switch (kind) {
  case MutantKind::Zeros:
    return "zeros";
  case MutantKind::Identity:
    return "identity";
  case MutantKind::Mean:
    return "mean";
  case MutantKind::RoundedTf32:
    return "inputs as tf32";
  case MutantKind::RoundedBf16:
    return "inputs as bf16";
  case MutantKind::RoundedF8:
    return "inputs as f8e4m3";
  case MutantKind::Truncated:
    return "truncated";
  case MutantKind::Stale:
    return "stale output";
  case MutantKind::Unwritten:
    return "unwritten tail";
  case MutantKind::HardCodedScalar:
    return "hard-coded scalar";
  case MutantKind::HardCodedShape:
    return "hard-coded shape";
  case MutantKind::EdgeOffByOne:
    return "edge off by one";
  case MutantKind::Transposed:
    return "transposed";
  case MutantKind::BlockSkipped:
    return "block skipped";
  }
  return "unknown_mutant";
}

const std::vector<MutantKind>& all_mutant_kinds() {
  using enum MutantKind;
  static const std::vector<MutantKind> kinds{
      Zeros,        Identity, Mean,      RoundedTf32,     RoundedBf16,    RoundedF8,    Truncated,
      BlockSkipped, Stale,    Unwritten, HardCodedScalar, HardCodedShape, EdgeOffByOne, Transposed};
  return kinds;
}

std::string to_string(const Mutant& mutant) {
  std::string text(to_string(mutant.kind));
  if (mutant.name.empty()) {
    return text;
  }
  text += ": " + mutant.name;
  const bool along = mutant.kind == MutantKind::Truncated ||
                     mutant.kind == MutantKind::EdgeOffByOne ||
                     (mutant.kind == MutantKind::HardCodedShape && mutant.runs_reference);
  return along ? fmt::format("{} along axis {}", text, mutant.axis) : text;
}

std::vector<Mutant> mutants_of(const Task& task) {
  std::vector<Mutant> mutants;
  for (const MutantKind kind :
       {MutantKind::Zeros, MutantKind::Identity, MutantKind::Mean, MutantKind::Stale}) {
    mutants.push_back({kind, "", 0, false});
  }
  for (const MutantKind kind :
       {MutantKind::RoundedTf32, MutantKind::RoundedBf16, MutantKind::RoundedF8}) {
    for (const TensorSpec& tensor : task.tensors) {
      if (is_too_coarse(kind, task, tensor)) {
        mutants.push_back({kind, "", 0, true});
        break;
      }
    }
  }
  for (const ScalarSpec& scalar : task.scalars) {
    mutants.push_back({MutantKind::HardCodedScalar, scalar.name, 0, true});
  }
  for (const TensorSpec& tensor : task.tensors) {
    add_tensor_mutants(tensor, mutants);
  }
  return mutants;
}

std::string change_inputs(const Mutant& mutant, const Task& task, const Shape& known, Shape& shape,
                          HostTensors& inputs) {
  switch (mutant.kind) {
  case MutantKind::RoundedTf32:
  case MutantKind::RoundedBf16:
  case MutantKind::RoundedF8:
    return round_inputs(mutant.kind, task, inputs);
  case MutantKind::HardCodedScalar:
    return hard_code_scalar(mutant, task, shape);
  case MutantKind::Truncated: {
    HostTensor& input = inputs.at(mutant.name);
    return keep_first(input, mutant.axis, without_last_eighth(input.extents.at(mutant.axis)));
  }
  case MutantKind::HardCodedShape: {
    const TensorSpec& tensor = *task.find_tensor(mutant.name);
    const std::int64_t kept = extents_of(tensor, task, known).at(mutant.axis);
    return keep_first(inputs.at(mutant.name), mutant.axis, kept);
  }
  case MutantKind::Transposed:
    return transpose(inputs.at(mutant.name));
  case MutantKind::BlockSkipped:
    return skip_block(inputs.at(mutant.name));
  default:
    return "it does not change inputs";
  }
}

std::string change_outputs(const Mutant& mutant, const Task& task, const Shape& known,
                           const MutantMaterial& material, HostTensors& outputs) {
  switch (mutant.kind) {
  case MutantKind::Zeros:
    return set_zeros(outputs);
  case MutantKind::Identity:
    return copy_input(material.inputs, outputs);
  case MutantKind::Mean:
    return set_mean(outputs);
  case MutantKind::Stale:
    outputs = material.stale;
    return "";
  case MutantKind::Unwritten:
    return poison_tail(outputs.at(mutant.name), material.poison.at(mutant.name));
  case MutantKind::HardCodedShape:
    return lay_out_for(outputs.at(mutant.name),
                       extents_of(*task.find_tensor(mutant.name), task, known).back(),
                       material.poison.at(mutant.name));
  case MutantKind::EdgeOffByOne: {
    HostTensor& output = outputs.at(mutant.name);
    return keep_first(output, mutant.axis, output.extents.at(mutant.axis) - 1);
  }
  case MutantKind::Transposed:
    return transpose(outputs.at(mutant.name));
  case MutantKind::BlockSkipped:
    return skip_block(outputs.at(mutant.name));
  default:
    return "it does not change outputs";
  }
}

} // namespace winnow::tasks
