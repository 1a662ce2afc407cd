#pragma once

#include "tasks/task/host_tensor.h"
#include "tasks/task/task.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// A kind of wrong kernel, described by its results only. A mutant is the reference on changed
/// inputs, or the right outputs with a change. So every task has mutants, and no mutant needs code.
/// The kinds come from kernels that have deceived other judges: constant and reused outputs,
/// truncated work, lower precision, memorised shapes.
enum class MutantKind : std::uint8_t {
  Zeros,           ///< every output 0
  Identity,        ///< a copy of an input with as many elements (more than one)
  Mean,            ///< the mean of the right output in every element
  RoundedTf32,     ///< inputs rounded to 10 bits of mantissa
  RoundedBf16,     ///< inputs rounded to bfloat16
  RoundedE4M3,     ///< inputs rounded to 8-bit floats with 3 bits of mantissa
  RoundedE5M2,     ///< inputs rounded to 8-bit floats with 2 bits of mantissa
  LeftOut,         ///< one input element in a thousand is missing from every sum
  LeftOutScaled,   ///< the mean of the others replaces one input element in a thousand
  Truncated,       ///< the last eighth of an input along one axis is missing from the sums
  Stale,           ///< the right outputs of other inputs
  Unwritten,       ///< the last eighth of an output is not written
  HardCodedScalar, ///< one scalar has its default value
  HardCodedShape,  ///< an input extent or output layout is that of the first search shape
  EdgeOffByOne,    ///< the last index of an output along one axis stays 0
  Transposed,      ///< rows and columns of a matrix are swapped, with the same bytes
  BlockSkipped,    ///< 32 to 256 neighbouring elements of an input or output stay 0
  EarlyStop,       ///< a row is read only as far as a value as large as any of another draw
  FixedCapacity,   ///< an index occurs, or a CSR row is long, 1.5 times as often as in another draw
                   ///< at most
  // Computed by PyTorch, for tasks with a TorchReference only. mutants_of() has none of them.
  BatchMean,    ///< the mean over the batch in every place
  OperandsTf32, ///< the factors of every product rounded to 10 bits of mantissa
  OperandsBf16, ///< the factors of every product rounded to 7 bits of mantissa
  HalfOfInputs, ///< the second half of every input is 0
};
/// The row of a report: "inputs as tf32".
std::string_view to_string(MutantKind kind);
const std::vector<MutantKind>& all_mutant_kinds();

struct Mutant {
  MutantKind kind = MutantKind::Zeros;
  std::string name;     ///< of the tensor or scalar; empty: all tensors
  std::size_t axis = 0; ///< Truncated, HardCodedShape of inputs, EdgeOffByOne
  /// True: the reference runs on inputs that change_inputs() has changed. False: change_outputs()
  /// changes the right outputs.
  bool runs_reference = false;
  /// True: every shape must reject the mutant by itself, because the limit could grow with the
  /// size.
  bool every_shape = false;
};
/// "truncated: a along axis 1"
std::string to_string(const Mutant& mutant);

/// Whether the mutant compares the inputs with those of another seed, so that it exists for some
/// seeds only.
bool depends_on_draw(MutantKind kind);

/// Every mutant of the task that exists at one shape or more.
std::vector<Mutant> mutants_of(const Task& task);

/// For a mutant with `runs_reference`: changes the inputs, or the scalars of `shape`. A hard-coded
/// shape is `known`. `seed` has drawn the inputs: EarlyStop and FixedCapacity draw others. Returns
/// an empty string, or the reason why the mutant does not exist at this shape.
std::string change_inputs(const Mutant& mutant, const Task& task, const Shape& known, Shape& shape,
                          HostTensors& inputs, std::uint64_t seed = 0);

/// For LeftOut and LeftOutScaled: a kernel that drops an element from its sums still has that
/// element for an element-wise result. So an output with as many elements as the changed input gets
/// its right elements back. `output` has the dtype and the element count of `right`. Does nothing
/// for other mutants.
void keep_right_places(const Mutant& mutant, const HostTensors& inputs, const HostTensor& right,
                       std::span<std::byte> output);

/// The inputs of change_outputs().
struct MutantMaterial {
  const HostTensors& inputs;
  const HostTensors& stale; ///< right outputs of the same shape with another seed
  std::map<std::string, std::uint64_t> poison; ///< 8-byte pattern in each output before a run
};
/// For a mutant without `runs_reference`: changes the right outputs, which have the task's own
/// dtypes. The result is as for change_inputs().
std::string change_outputs(const Mutant& mutant, const Task& task, const Shape& known,
                           const MutantMaterial& material, HostTensors& outputs);

} // namespace winnow::tasks
