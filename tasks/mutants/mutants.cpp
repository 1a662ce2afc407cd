#include "tasks/mutants/mutants.h"

#include "base/parallel.h"
#include "tasks/inputs/input_generator.h"
#include "tasks/mutants/mutant_edits.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace winnow::tasks {
namespace {

using GeneratorKind = GeneratorSpec::Kind;

bool is_read(const TensorSpec& tensor) {
  return tensor.role != Role::Output;
}
bool is_written(const TensorSpec& tensor) {
  return tensor.role != Role::Input;
}
bool is_rounded_by_kernels(DType type) {
  return is_floating(type) && type != DType::F64;
}

constexpr MutantKind kRoundings[] = {MutantKind::RoundedTf32, MutantKind::RoundedBf16,
                                     MutantKind::RoundedE4M3, MutantKind::RoundedE5M2};

/// Not for RoundedTf32, which is no dtype.
DType dtype_of(MutantKind kind) {
  return kind == MutantKind::RoundedBf16   ? DType::BF16
         : kind == MutantKind::RoundedE4M3 ? DType::F8E4M3
                                           : DType::F8E5M2;
}

double epsilon_of(MutantKind kind) {
  return kind == MutantKind::RoundedTf32 ? epsilon(Precision::TF32) : epsilon(dtype_of(kind));
}

// Whether the rounding is coarser than the task's precision and than the input's dtype.
bool is_too_coarse(MutantKind kind, const Task& task, const TensorSpec& tensor) {
  return is_read(tensor) && is_rounded_by_kernels(tensor.dtype) &&
         epsilon_of(kind) > epsilon(task.tolerance.precision) &&
         epsilon_of(kind) > epsilon(tensor.dtype);
}

using BlockBytes = std::array<std::byte, kElementsAtOnce * sizeof(double)>;

void round_block(MutantKind kind, DType type, const std::byte* elements, std::size_t count,
                 BlockBytes& rounded) {
  if (kind != MutantKind::RoundedTf32) {
    BlockBytes coarse; // NOLINT(*-member-init): convert_elements() fills it
    convert_elements(type, elements, dtype_of(kind), coarse.data(), count);
    convert_elements(dtype_of(kind), coarse.data(), type, rounded.data(), count);
    return;
  }
  std::array<double, kElementsAtOnce> values; // NOLINT(*-member-init): convert_elements() fills it
  auto* const bytes = reinterpret_cast<std::byte*>(values.data());
  convert_elements(type, elements, DType::F64, bytes, count);
  std::transform(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count),
                 values.begin(), rounded_to_tf32);
  convert_elements(DType::F64, bytes, type, rounded.data(), count);
}

/// Whether the rounding changed an element.
bool round_elements(MutantKind kind, DType type, std::byte* elements, std::size_t count) {
  bool changed = false;
  BlockBytes rounded; // NOLINT(*-member-init): round_block() fills it
  for (std::size_t done = 0; done < count; done += kElementsAtOnce) {
    std::byte* const block = elements + done * size_bytes(type);
    const std::size_t share = std::min(kElementsAtOnce, count - done);
    round_block(kind, type, block, share, rounded);
    changed = changed || std::memcmp(block, rounded.data(), share * size_bytes(type)) != 0;
    std::memcpy(block, rounded.data(), share * size_bytes(type));
  }
  return changed;
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
  if (is_read(tensor)) {
    mutants.push_back({MutantKind::LeftOut, tensor.name, 0, true, true});
    mutants.push_back({MutantKind::LeftOutScaled, tensor.name, 0, true, true});
    if (is_floating(tensor.dtype)) {
      mutants.push_back({MutantKind::EarlyStop, tensor.name, 0, true});
    }
    if (tensor.generator.kind == GeneratorKind::Index ||
        tensor.generator.kind == GeneratorKind::CsrColumns) {
      mutants.push_back({MutantKind::FixedCapacity, tensor.name, 0, true});
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
  std::atomic<bool> changed = false;
  for (const TensorSpec& tensor : task.tensors) {
    if (!is_too_coarse(kind, task, tensor)) {
      continue;
    }
    HostTensor& input = inputs.at(tensor.name);
    in_parts(static_cast<std::uint64_t>(input.count()), kElementsPerThread,
             [&](std::uint64_t first, std::uint64_t end) {
               std::byte* const part = input.bytes.data() + first * size_bytes(input.dtype);
               if (round_elements(kind, input.dtype, part, end - first)) {
                 changed = true;
               }
             });
  }
  return changed ? "" : "rounding does not change the inputs";
}

/// The tensor as another seed draws it. Both halves of the seed differ: see nth_seed().
HostTensor drawn_again(const TensorSpec& tensor, const Task& task, const Shape& shape,
                       std::uint64_t seed) {
  constexpr std::uint64_t kOther = 0x5bd1e9959e3779b9ULL;
  HostTensor other = unset_tensor(tensor, task, shape);
  generate_tensor(generator_at(tensor, shape), tensor.dtype, seed ^ kOther, tensor.name,
                  other.bytes.data(), static_cast<std::uint64_t>(other.count()));
  return other;
}

/// The values of CSR entries: floating inputs with an element for each column index.
std::string shorten_rows(const TensorSpec& columns, const Task& task, const Shape& shape,
                         HostTensors& inputs, std::uint64_t seed) {
  const TensorSpec& pointers = *task.find_tensor(columns.csr->pointers);
  const HostTensor other = drawn_again(pointers, task, shape, seed);
  std::string why = "no floating input has a value for each entry";
  bool changed = false;
  for (auto& [name, input] : inputs) {
    if (is_floating(input.dtype) && input.count() == inputs.at(columns.name).count()) {
      why = shorten_long_rows(input, inputs.at(pointers.name), other);
      changed = changed || why.empty();
    }
  }
  return changed ? "" : why;
}

std::string fix_capacity(const Mutant& mutant, const Task& task, const Shape& shape,
                         HostTensors& inputs, std::uint64_t seed) {
  const TensorSpec& tensor = *task.find_tensor(mutant.name);
  if (tensor.csr) {
    return shorten_rows(tensor, task, shape, inputs, seed);
  }
  return move_surplus(inputs.at(mutant.name), drawn_again(tensor, task, shape, seed),
                      generator_at(tensor, shape).a.high);
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
  return changed ? "" : "no input and output have the same number of elements above 1";
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
  return changed ? "" : "every output has one element";
}

} // namespace

bool depends_on_draw(MutantKind kind) {
  return kind == MutantKind::EarlyStop || kind == MutantKind::FixedCapacity;
}

std::vector<Mutant> mutants_of(const Task& task) {
  std::vector<Mutant> mutants;
  for (const MutantKind kind :
       {MutantKind::Zeros, MutantKind::Identity, MutantKind::Mean, MutantKind::Stale}) {
    mutants.push_back({kind, "", 0, false});
  }
  bool is_next_coarser = true;
  for (const MutantKind kind : kRoundings) {
    if (std::any_of(task.tensors.begin(), task.tensors.end(),
                    [&](const TensorSpec& tensor) { return is_too_coarse(kind, task, tensor); })) {
      mutants.push_back({kind, "", 0, true, is_next_coarser});
      is_next_coarser = false;
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
                          HostTensors& inputs, std::uint64_t seed) {
  switch (mutant.kind) {
  case MutantKind::RoundedTf32:
  case MutantKind::RoundedBf16:
  case MutantKind::RoundedE4M3:
  case MutantKind::RoundedE5M2:
    return round_inputs(mutant.kind, task, inputs);
  case MutantKind::LeftOut:
  case MutantKind::LeftOutScaled:
    return leave_out(inputs.at(mutant.name), mutant.kind == MutantKind::LeftOutScaled);
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
  case MutantKind::EarlyStop:
    return stop_early(inputs.at(mutant.name),
                      drawn_again(*task.find_tensor(mutant.name), task, shape, seed));
  case MutantKind::FixedCapacity:
    return fix_capacity(mutant, task, shape, inputs, seed);
  default:
    return "this mutant does not change inputs";
  }
}

void keep_right_places(const Mutant& mutant, const HostTensors& inputs, const HostTensor& right,
                       std::span<std::byte> output) {
  const bool leaves_out =
      mutant.kind == MutantKind::LeftOut || mutant.kind == MutantKind::LeftOutScaled;
  if (leaves_out && right.count() == inputs.at(mutant.name).count()) {
    copy_left_out(right, output);
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
    return "this mutant does not change outputs";
  }
}

} // namespace winnow::tasks
