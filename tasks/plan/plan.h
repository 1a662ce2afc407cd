#pragma once

#include "base/text/diagnostic.h"
#include "tasks/expression/expression.h"
#include "tasks/inputs/dtype.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace winnow::tasks {

constexpr std::size_t kMaxPlanErrors = 20; ///< errors reported for one plan

/// The name, in a grid expression, of the number of blocks that the device can run at once.
constexpr const char* kResidentBlocks = "resident_blocks";

/// An expression of a launch plan, with its position in the file for messages. A launch plan
/// (docs/kernel_file.md) states the host's work as data.
struct PlanExpression {
  Expression expression;
  SourcePosition at; ///< of the expression's first character
};

struct Parameter {
  std::string name;
  std::vector<std::int64_t>
      values; ///< allowed values (true/false are 1/0); the first is the default
  SourcePosition at;
};
/// A choice of one value for every parameter of a plan.
using ParameterChoice = std::map<std::string, std::int64_t>;
std::string parameters_text(const ParameterChoice& choice); ///< "BLOCK=128 VEC=4"; empty for none

struct LetBinding {
  std::string name;
  PlanExpression value;            ///< empty for a device constant; the index into a table
  std::vector<std::int64_t> table; ///< empty: no table
  /// A constant expression of the device code, with {NAME} placeholders. Winnow reads its value
  /// from the compiled module. Empty: `value` holds the expression.
  std::string device_constant;
  SourcePosition at;
};

struct ScratchBuffer {
  std::string name;
  DType dtype = DType::F32;
  PlanExpression count; ///< elements
  /// Winnow fills the buffer once with this value. The buffer must hold the value again after every
  /// run.
  std::optional<double> once;
  bool keep = false; ///< `prepare` writes the buffer; launches may only read it
  SourcePosition at;
};

/// How the tensor memory accelerator (sm_90 and later) sees a buffer. Extents, strides and box are
/// in elements, innermost dimension first, as in cuTensorMapEncodeTiled; 1 to 5 dimensions.
enum class Swizzle : std::uint8_t { None = 0, Bytes32 = 32, Bytes64 = 64, Bytes128 = 128 };
enum class Interleave : std::uint8_t { None = 0, Bytes16 = 16, Bytes32 = 32 };
enum class L2Promotion : std::uint16_t { None = 0, Bytes64 = 64, Bytes128 = 128, Bytes256 = 256 };
enum class OutOfBoundsFill : std::uint8_t { Zero = 0, NaN = 1 };
struct TensorMapOptions {
  Swizzle swizzle = Swizzle::None;
  Interleave interleave = Interleave::None;
  L2Promotion l2_promotion = L2Promotion::None;
  OutOfBoundsFill fill = OutOfBoundsFill::Zero;
};

/// A tensor or scratch buffer, or one of several by an index, with an optional element offset.
struct BufferReference {
  std::vector<std::optional<std::string>> pick; ///< one without an index; nullopt: null pointer
  PlanExpression by;                            ///< index into `pick`; empty for a plain name
  PlanExpression offset;                        ///< elements; empty is 0
  SourcePosition at;
};

struct NullArgument {
  SourcePosition at;
};
struct IntegerArgument {
  PlanExpression value;
}; ///< also booleans; also a bare name until resolved
struct FloatArgument {
  PlanExpression value;
};
struct TensorMapArgument {
  std::string map; ///< a TensorMap of the plan
  SourcePosition at;
};
using Argument =
    std::variant<NullArgument, IntegerArgument, FloatArgument, BufferReference, TensorMapArgument>;

struct TensorMap {
  std::string name;
  BufferReference buffer;
  std::optional<DType> dtype;          ///< nullopt: the buffer's
  std::vector<PlanExpression> extents; ///< elements
  std::vector<PlanExpression> strides; ///< elements, of dimensions 1 and up; empty: without gaps
  std::vector<PlanExpression> box;     ///< elements
  std::vector<PlanExpression> element_strides; ///< empty: all 1
  TensorMapOptions options;
  SourcePosition at;
};

struct Launch;

struct KernelLaunch {
  std::string kernel;                ///< with {NAME} placeholders: parameters, axes, {dtype:tensor}
  std::vector<PlanExpression> grid;  ///< 1 to 3, x first
  std::vector<PlanExpression> block; ///< 1 to 3, x first
  PlanExpression shared_bytes;       ///< dynamic shared memory; empty is 0
  std::vector<Argument> arguments;
  std::vector<PlanExpression> cluster; ///< 0 to 3, x first; blocks
  bool cooperative = false;
};
struct Fill {
  BufferReference buffer;
  double value = 0;     ///< may be infinite or NaN
  PlanExpression count; ///< elements; empty: to the buffer's end
};
struct Copy {
  BufferReference from;
  BufferReference to;
  PlanExpression count; ///< elements (per row when pitched); empty: all of `from`
  PlanExpression rows;  ///< empty: 1
  PlanExpression from_stride;
  PlanExpression to_stride;
};
struct Repeat {
  PlanExpression times;
  std::string as; ///< loop variable, may be empty
  std::vector<LetBinding> let;
  std::vector<Launch> body;
};
struct Launch {
  std::variant<KernelLaunch, Fill, Copy, Repeat> what;
  PlanExpression when; ///< empty: always
  SourcePosition at;
};

struct Plan {
  std::vector<Parameter> parameters;
  std::vector<PlanExpression> where;
  std::vector<LetBinding> let;
  std::vector<ScratchBuffer> scratch;
  std::vector<TensorMap> tensor_maps;
  std::vector<Launch> prepare; ///< once, over inputs that the task marks as static
  std::vector<Launch> launches;
  PlanExpression fast_math; ///< expression over parameters; empty is false
};

/// Calls visit(launch) for each launch, in order, and for those that a repeat has within it.
template <typename Visit>
void each_launch(const std::vector<Launch>& launches, const Visit& visit) {
  for (const Launch& launch : launches) {
    visit(launch);
    if (const auto* repeat = std::get_if<Repeat>(&launch.what)) {
      each_launch(repeat->body, visit);
    }
  }
}

} // namespace winnow::tasks
