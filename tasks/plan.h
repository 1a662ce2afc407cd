#pragma once

#include "tasks/diagnostic.h"
#include "tasks/dtype.h"
#include "tasks/expression.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace winnow::tasks {

/// A launch plan as written: what the host would do, as data. See docs/kernel_file.md.
/// Every expression keeps its place in the file, for messages.
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

struct LetBinding {
  std::string name;
  PlanExpression value;
};

struct ScratchBuffer {
  std::string name;
  DType dtype = DType::F32;
  PlanExpression count; ///< elements
  /// Filled once with this value; it must hold it again after every run.
  std::optional<double> once;
  SourcePosition at;
};

/// A tensor or scratch buffer, perhaps one of several by an index, perhaps from an element on.
struct BufferReference {
  std::vector<std::optional<std::string>> pick; ///< one entry unless it is a pick; nullopt is null
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
using Argument = std::variant<NullArgument, IntegerArgument, FloatArgument, BufferReference>;

struct Launch;

struct KernelLaunch {
  std::string kernel;                ///< with {NAME} placeholders: parameters, axes, {dtype:tensor}
  std::vector<PlanExpression> grid;  ///< 1 to 3, x first
  std::vector<PlanExpression> block; ///< 1 to 3, x first
  PlanExpression shared_bytes;       ///< dynamic shared memory; empty is 0
  std::vector<Argument> arguments;
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
  std::vector<Launch> launches;
  PlanExpression fast_math; ///< over parameters; empty is false
};

} // namespace winnow::tasks
