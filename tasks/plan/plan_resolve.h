#pragma once

#include "tasks/plan/device_facts.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/signature.h"
#include "tasks/task.h"

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
/// A LibraryBaseline at one shape. Only plans made by library_plans() have it: no kernel file can
/// ask for a library.
struct LibraryStep {
  std::string library;
  std::string operation;
  std::string a, b, c; ///< buffers, whole
  DType a_type = DType::F32, b_type = DType::F32, c_type = DType::F32;
  std::int64_t m = 0, n = 0, k = 0;
  bool b_transposed = false;
  LibraryCompute compute = LibraryCompute::F32;
  double alpha = 1;
};
using Step = std::variant<LaunchStep, FillStep, CopyStep, LibraryStep>;

struct Buffer {
  enum class Kind : std::uint8_t { Input = 1, Output = 2, InOut = 3, Scratch = 4 };
  std::string name;
  Kind kind = Kind::Input;
  DType dtype = DType::F32;
  std::int64_t count = 0;     ///< elements
  GeneratorSpec generator;    ///< Input and InOut
  bool is_static = false;     ///< Input: the same over many runs
  std::optional<double> once; ///< Scratch
  bool keep = false;          ///< Scratch: holds what `prepare` wrote; never poisoned between runs
};

/// A plan at one shape with one choice of parameters: numbers only. This is what a worker runs.
struct ResolvedPlan {
  std::vector<Buffer> buffers; ///< the task's tensors in order, then scratch
  std::vector<Step> prepare; ///< once, before the first run, and again when a static input changes
  std::vector<Step> steps;
};

/// The distinct instantiated kernel names that these shapes need, in order of first use. Nothing is
/// compiled yet: a launch whose `when` or repeat depends on a device constant counts as needed, and
/// a name that does is an error. Errors are appended to `errors`.
std::vector<std::string> kernel_names(const KernelFile& file, const Task& task,
                                      const std::vector<Shape>& shapes,
                                      const ParameterChoice& choice, const DeviceFacts& facts,
                                      std::vector<Diagnostic>& errors);

/// Evaluates and range-checks everything: grid and block (at least 1, at most the device's), shared
/// bytes, argument kinds, ranges and constness against `compiled`, fill and copy ranges, offsets,
/// scratch sizes, clusters, tensor maps, the kernel's registers and shared memory where `compiled`
/// knows them, what `prepare` and launches may touch, total steps, that some launch applies and
/// every output is some argument. Messages carry the expression, its value and the shape ("hidden
/// shape" without values when hidden). What the device cannot do is an error with `unsupported`
/// set. Returns nullopt exactly when it appended to `errors`.
std::optional<ResolvedPlan> resolve_plan(const KernelFile& file, const Task& task,
                                         const Shape& shape, const ParameterChoice& choice,
                                         const DeviceFacts& facts, const CompiledFacts& compiled,
                                         std::vector<Diagnostic>& errors,
                                         std::vector<Diagnostic>& warnings);

/// The device constants that the plan asks for, {NAME} placeholders replaced, each once: what
/// CompiledFacts::constants must hold. Errors are appended to `errors`.
std::vector<std::string> device_constants(const KernelFile& file, const ParameterChoice& choice,
                                          std::vector<Diagnostic>& errors);

/// The worker protocol's form of a resolved plan. from_json throws nlohmann exceptions.
void to_json(nlohmann::json& json, const ResolvedPlan& plan);
void from_json(const nlohmann::json& json, ResolvedPlan& plan);

} // namespace winnow::tasks
