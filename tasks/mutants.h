#pragma once

#include "tasks/inputs/host_tensor.h"
#include "tasks/task.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// What a wrong kernel does, told by its results alone: the reference on other inputs, or its right
/// outputs changed afterwards. So any task has mutants, and none needs code. The sources are the
/// ways in which kernels have passed other judges (constant and reused outputs, truncated work,
/// lower precision, memorised shapes).
enum class MutantKind : std::uint8_t {
  Zeros,           ///< every output 0
  Identity,        ///< an input of as many elements (more than one), as it is
  Mean,            ///< the mean of the right output, everywhere
  RoundedTf32,     ///< inputs rounded to 10 bits of mantissa
  RoundedBf16,     ///< inputs rounded to bfloat16
  RoundedE4M3,     ///< inputs rounded to 8-bit floats with 3 bits of mantissa
  RoundedE5M2,     ///< and with 2
  LeftOut,         ///< one element of an input in a thousand left out of every sum
  LeftOutScaled,   ///< the same, each replaced by the mean of the others
  Truncated,       ///< the last eighth of an input along one axis left out: the first terms only
  Stale,           ///< the right outputs for other inputs
  Unwritten,       ///< the last eighth of an output never written
  HardCodedScalar, ///< one scalar at its default value
  HardCodedShape,  ///< an input read no further, an output laid out, as at the first search shape
  EdgeOffByOne,    ///< the last index of an output along one axis left 0
  Transposed,      ///< a matrix read or written with rows and columns exchanged, in the same bytes
  BlockSkipped,    ///< 32 to 256 neighbouring elements of an input or output left 0
};
/// The row of a report: "inputs as tf32".
std::string_view to_string(MutantKind kind);
const std::vector<MutantKind>& all_mutant_kinds();

struct Mutant {
  MutantKind kind = MutantKind::Zeros;
  std::string name;     ///< of the tensor or scalar; empty: all of them
  std::size_t axis = 0; ///< Truncated, HardCodedShape of inputs, EdgeOffByOne
  /// The reference runs on what change_inputs() leaves; otherwise change_outputs() changes its
  /// right outputs.
  bool runs_reference = false;
  /// Every shape must reject it by itself: errors that a limit could let grow with the size.
  bool every_shape = false;
};
/// "truncated: a along axis 1"
std::string to_string(const Mutant& mutant);

/// Every mutant that the task can have at some shape.
std::vector<Mutant> mutants_of(const Task& task);

/// For mutants that run the reference: changes the inputs, or the scalars of `shape`. `known`: the
/// shape that a hard-coded one is taken from. Returns why this mutant is none at this shape; empty:
/// it is one.
std::string change_inputs(const Mutant& mutant, const Task& task, const Shape& known, Shape& shape,
                          HostTensors& inputs);

/// A kernel that leaves an element out of its sums still has it for the outputs at the same place:
/// puts elements of `right` back where an output has as many elements as what was left out of. Does
/// nothing for other mutants.
void keep_right_places(const Mutant& mutant, const HostTensors& inputs, const HostTensors& right,
                       HostTensors& outputs);

/// For the others.
struct MutantMaterial {
  const HostTensors& inputs;
  const HostTensors& stale; ///< right outputs of the same shape with another seed
  std::map<std::string, std::uint64_t> poison; ///< what each output holds before a run: 8 bytes
};
/// The same for right outputs, elements of the task's own dtypes.
std::string change_outputs(const Mutant& mutant, const Task& task, const Shape& known,
                           const MutantMaterial& material, HostTensors& outputs);

} // namespace winnow::tasks
