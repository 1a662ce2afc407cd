#pragma once

#include "tasks/plan/device_facts.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/signature.h"
#include "tasks/task/task.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::tasks {

struct ResolvedTensorMap {
  std::string buffer;
  std::int64_t offset_bytes = 0;
  DType dtype = DType::F32;
  std::vector<std::int64_t> extents;       ///< elements, innermost first
  std::vector<std::int64_t> strides_bytes; ///< of dimensions 1 and up
  std::vector<std::int64_t> box;           ///< elements
  std::vector<std::int64_t> element_strides;
  TensorMapOptions options;
};

struct ResolvedArgument {
  enum class Kind : std::uint8_t { Pointer, Integer, Float, TensorMap };
  Kind kind = Kind::Integer;
  std::string buffer;            ///< Pointer: empty is null
  std::int64_t offset_bytes = 0; ///< Pointer
  std::int64_t integer = 0;      ///< Integer (range-checked against the parameter's type)
  double real = 0;               ///< Float
  std::shared_ptr<const ResolvedTensorMap> tensor_map; ///< TensorMap
  int size_bytes = 0;                                  ///< of the parameter
};
struct LaunchStep {
  std::string kernel; ///< instantiated name
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::array<std::int64_t, 3> cluster{1, 1, 1}; ///< {1, 1, 1}: none
  std::int64_t shared_bytes = 0;
  bool cooperative = false;
  std::vector<ResolvedArgument> arguments;
};
struct FillStep {
  std::string buffer;
  std::int64_t offset_bytes = 0;
  std::int64_t count = 0;
  DType dtype = DType::F32;
  double value = 0;
};
struct CopyStep {
  std::string from, to;
  std::int64_t from_offset_bytes = 0, to_offset_bytes = 0;
  std::int64_t row_bytes = 0, rows = 1;
  std::int64_t from_stride_bytes = 0, to_stride_bytes = 0;
};
/// The first `count` elements of a buffer.
struct LibraryOperand {
  std::string buffer;
  DType dtype = DType::F32;
  std::int64_t count = 0;
};
/// A LibraryBaseline at one shape. Only library_plans() creates this step: a kernel file cannot
/// call a library.
struct LibraryStep {
  std::string library;
  std::string operation;
  std::vector<LibraryOperand> operands; ///< in the order of LibraryBaseline::operands
  std::int64_t m = 1, n = 1, k = 1, batch = 1, nonzeros = 1;
  bool b_transposed = false; ///< matmul
  bool inverse = false;      ///< fft
  LibraryCompute compute = LibraryCompute::F32;
  double alpha = 1, beta = 0;
};
using Step = std::variant<LaunchStep, FillStep, CopyStep, LibraryStep>;

struct Buffer {
  enum class Kind : std::uint8_t { Input = 1, Output = 2, InOut = 3, Scratch = 4 };
  std::string name;
  Kind kind = Kind::Input;
  DType dtype = DType::F32;
  std::int64_t count = 0;     ///< elements
  GeneratorSpec generator;    ///< Input and InOut
  bool is_static = false;     ///< Input: the same contents over many runs
  std::optional<double> once; ///< Scratch
  bool keep = false;          ///< Scratch: `prepare` writes it; not poisoned between runs
};

/// A plan at one shape with one choice of parameters; has numbers only. A worker runs this form.
struct ResolvedPlan {
  std::vector<Buffer> buffers; ///< the task's tensors in order, then scratch
  std::vector<Step> prepare; ///< once, before the first run, and again when a static input changes
  std::vector<Step> steps;
};

/// A plan without steps: the buffers of the task's tensors at this shape. Throws ExpressionError.
ResolvedPlan tensors_only(const Task& task, const Shape& shape);

/// The distinct instantiated kernel names for these shapes, in order of first use. The file is not
/// compiled yet. A launch whose `when` or repeat depends on a device constant counts as needed. A
/// kernel name that depends on a device constant is an error. Appends errors to `errors`.
std::vector<std::string> kernel_names(const KernelFile& file, const Task& task,
                                      const std::vector<Shape>& shapes,
                                      const ParameterChoice& choice, const DeviceFacts& facts,
                                      std::vector<Diagnostic>& errors);

/// Evaluates the plan and checks all values:
/// - grid and block (at least 1, at most the device's limit), clusters, shared bytes, tensor maps,
///   and the kernel's registers and shared memory if `compiled` has them;
/// - argument kinds, ranges and constness against `compiled`;
/// - ranges of fills and copies, offsets, scratch sizes, the number of steps;
/// - the buffers that `prepare` and launches may use;
/// - at least one launch applies, and every output is an argument.
/// Messages contain the expression, its value and the shape (for a hidden shape: "hidden shape"
/// without values). A request beyond this device is an error with `unsupported` set. Returns
/// nullopt exactly if it appended to `errors`.
std::optional<ResolvedPlan> resolve_plan(const KernelFile& file, const Task& task,
                                         const Shape& shape, const ParameterChoice& choice,
                                         const DeviceFacts& facts, const CompiledFacts& compiled,
                                         std::vector<Diagnostic>& errors,
                                         std::vector<Diagnostic>& warnings);

/// Converts a resolved plan for the worker protocol. from_json throws Error.
void to_json(nlohmann::json& json, const ResolvedPlan& plan);
void from_json(const nlohmann::json& json, ResolvedPlan& plan);

} // namespace winnow::tasks
