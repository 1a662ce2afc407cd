#pragma once

#include "tasks/kernel_file.h"
#include "tasks/signature.h"
#include "tasks/task.h"

#include <array>
#include <cstdint>
#include <memory>
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
  // What follows is 0 or empty where a device has no such thing.
  std::string architecture;            ///< compile target: "sm_90a", "gfx90a"
  std::int64_t max_cluster_blocks = 0; ///< blocks in a cluster that every device accepts
  bool cooperative = true;             ///< grid-wide barriers
  bool tensor_maps = false;
  std::int64_t max_static_shared_bytes = 232448; ///< what a kernel may declare
  std::int64_t max_threads_per_sm = 0;
  std::int64_t max_blocks_per_sm = 0;
  std::int64_t registers_per_sm = 0;
  std::int64_t registers_per_block = 0;
  std::int64_t shared_bytes_per_sm = 0;
  std::int64_t reserved_shared_bytes = 0; ///< per block, taken by the system
  std::int64_t l2_bytes = 0;
  double peak_bytes_per_second = 0; ///< of device memory: the floor under any timing; 0: unknown
};

/// How many blocks of a kernel fit on one multiprocessor at once, by the rules of the CUDA
/// occupancy calculator (cuda_occupancy.h): the least of what threads, blocks, registers and shared
/// memory allow. 0 when `facts` do not say, or when it does not fit at all.
std::int64_t resident_blocks_per_sm(const DeviceFacts& facts, const KernelResources& kernel,
                                    std::int64_t block_threads, std::int64_t dynamic_shared_bytes);

/// Sets every fact under its name ("sm_count", "max_shared_bytes", ...) in `scope`.
void bind_facts(const DeviceFacts& facts, Scope& scope);

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
using Step = std::variant<LaunchStep, FillStep, CopyStep>;

struct Buffer {
  enum class Kind : std::uint8_t { Input = 1, Output = 2, InOut = 3, Scratch = 4 };
  std::string name;
  Kind kind = Kind::Input;
  DType dtype = DType::F32;
  std::int64_t count = 0;     ///< elements
  GeneratorSpec generator;    ///< Input and InOut
  std::optional<double> once; ///< Scratch
  bool keep = false;          ///< Scratch: holds what `prepare` wrote; never poisoned between runs
};

/// A plan at one shape with one choice of parameters: numbers only. This is what a worker runs.
struct ResolvedPlan {
  std::vector<Buffer> buffers; ///< the task's tensors in order, then scratch
  std::vector<Step> prepare; ///< once, before the first run, and again when a static input changes
  std::vector<Step> steps;
};

/// The distinct instantiated kernel names that these shapes need, in order of first use.
/// Errors are appended to `errors`.
std::vector<std::string> kernel_names(const KernelFile& file, const Task& task,
                                      const std::vector<Shape>& shapes,
                                      const ParameterChoice& choice, const DeviceFacts& facts,
                                      std::vector<Diagnostic>& errors);

/// Evaluates and range-checks everything: grid and block (at least 1, at most the device's), shared
/// bytes, argument kinds, ranges and constness against `compiled`, fill and copy ranges, offsets,
/// scratch sizes, total steps, that some launch applies and every output is some argument. Messages
/// carry the expression, its value and the shape ("hidden shape" without values when hidden).
/// Returns nullopt exactly when it appended to `errors`.
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
