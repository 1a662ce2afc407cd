#pragma once

#include "tasks/kernel_file.h"
#include "tasks/signature.h"
#include "tasks/task.h"

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::tasks {

/// What expressions may ask of a device, and what launches are checked against.
struct DeviceFacts {
  std::int64_t sm_count = 1;
  std::int64_t warp_size = 32;
  std::int64_t max_threads_per_block = 1024;
  std::int64_t max_shared_bytes = 232448; ///< dynamic + static, per block
  std::int64_t max_grid_x = 2147483647;
  std::int64_t max_grid_y = 65535;
  std::int64_t max_grid_z = 65535;
  std::int64_t max_block_z = 64;
  std::int64_t max_threads_per_launch = std::int64_t{1} << 40; ///< a device that is slow sets less
  std::int64_t memory_bytes = std::int64_t{1} << 30;           ///< for scratch
  std::int64_t max_steps = 100000;                             ///< launches after repeats unroll
};

/// Sets every fact under its name ("sm_count", "max_shared_bytes", ...) in `scope`.
void bind_facts(const DeviceFacts& facts, Scope& scope);

struct ResolvedArgument {
  enum class Kind : std::uint8_t { Pointer, Integer, Float };
  Kind kind = Kind::Integer;
  std::string buffer;            ///< Pointer: empty is null
  std::int64_t offset_bytes = 0; ///< Pointer
  std::int64_t integer = 0;      ///< Integer (range-checked against the parameter's type)
  double real = 0;               ///< Float
  int size_bytes = 0;            ///< of the parameter
};
struct LaunchStep {
  std::string kernel; ///< instantiated name
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int64_t, 3> block{1, 1, 1};
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
using Step = std::variant<LaunchStep, FillStep, CopyStep>;

struct Buffer {
  enum class Kind : std::uint8_t { Input = 1, Output = 2, InOut = 3, Scratch = 4 };
  std::string name;
  Kind kind = Kind::Input;
  DType dtype = DType::F32;
  std::int64_t count = 0;     ///< elements
  GeneratorSpec generator;    ///< Input and InOut
  std::optional<double> once; ///< Scratch
};

/// A plan at one shape with one choice of parameters: numbers only. This is what a worker runs.
struct ResolvedPlan {
  std::vector<Buffer> buffers; ///< the task's tensors in order, then scratch
  std::vector<Step> steps;
};

/// The distinct instantiated kernel names that these shapes need, in order of first use.
/// Errors are appended to `errors`.
std::vector<std::string> kernel_names(const KernelFile& file, const Task& task,
                                      const std::vector<Shape>& shapes,
                                      const ParameterChoice& choice, const DeviceFacts& facts,
                                      std::vector<Diagnostic>& errors);

/// Evaluates and range-checks everything: grid and block (at least 1, at most the device's), shared
/// bytes, argument kinds, ranges and constness against `signatures`, fill and copy ranges, offsets,
/// scratch sizes, total steps, that some launch applies and every output is some argument. Messages
/// carry the expression, its value and the shape ("hidden shape" without values when hidden).
/// Returns nullopt exactly when it appended to `errors`.
std::optional<ResolvedPlan> resolve_plan(const KernelFile& file, const Task& task,
                                         const Shape& shape, const ParameterChoice& choice,
                                         const DeviceFacts& facts,
                                         const std::vector<KernelSignature>& signatures,
                                         std::vector<Diagnostic>& errors,
                                         std::vector<Diagnostic>& warnings);

/// The worker protocol's form of a resolved plan. from_json throws nlohmann exceptions.
void to_json(nlohmann::json& json, const ResolvedPlan& plan);
void from_json(const nlohmann::json& json, ResolvedPlan& plan);

} // namespace winnow::tasks
