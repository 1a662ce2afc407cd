#pragma once

#include "evaluators/device/device_report.h"
#include "evaluators/messages/protocol.h"
#include "tasks/task/task.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::evaluators {

/// A question to the `_torch` child (torch_child.py), and the parts of the exchange that it names.
struct TorchQuestion {
  /// The inputs: tensors of tasks::reference_view(), so inouts are doubles.
  std::vector<ArenaSlice> inputs;
  /// The outputs of tasks::reference_view(): floating outputs in double, each with its magnitude.
  std::vector<ArenaSlice> answers;
  std::string line; ///< JSON
};

/// The answer of the task's module at this shape. `seed` draws the noise of the error scale. With
/// `draw`, the answers hold drawn_pieces() of each output, and of its magnitude: a GiB of them
/// takes seconds to travel. Throws Error when the tensors do not fit into `capacity_bytes`.
TorchQuestion torch_question(const tasks::Task& task, const tasks::Shape& shape, std::uint64_t seed,
                             std::uint64_t capacity_bytes,
                             std::optional<std::uint64_t> draw = std::nullopt);

/// The outputs of a wrong module, by its name in mutants.py, in the task's own types. "own
/// precision" is the module itself.
TorchQuestion torch_mutant(const tasks::Task& task, const tasks::Shape& shape,
                           const std::string& mutant, std::uint64_t capacity_bytes);
/// Whether the module computes inputs of the task: arguments by get_inputs(), state by its
/// constructor.
bool has_computed_inputs(const tasks::Task& task);
/// The most bytes that computed_inputs() needs at any shape.
std::uint64_t bytes_of_computed_inputs(const tasks::Task& task);
/// The inputs of this shape that the module computes, one after the other from offset 0 on.
std::vector<ArenaSlice> computed_inputs(const tasks::Task& task, const tasks::Shape& shape);
/// The question for these inputs. `places`: parts of the exchange; other tensors are left alone.
/// Empty if the task has none. `static_seed`: of the state; `seed` without it.
std::string torch_inputs(const tasks::Task& task, const tasks::Shape& shape, std::uint64_t seed,
                         const std::vector<ArenaSlice>& places,
                         std::optional<std::uint64_t> static_seed = std::nullopt);

/// How often PyTorch runs a module to time it, as in torch_child.py.
struct TorchSampling {
  int warm_ups = 3;
  int min_samples = 20;
  int max_samples = 200;
  std::chrono::nanoseconds budget{0};
};
/// The ways in which PyTorch can run the module: names of alternatives.py, "eager" first. `answers`
/// is empty.
TorchQuestion torch_alternatives(const tasks::Task& task, const tasks::Shape& shape,
                                 std::uint64_t capacity_bytes);
/// The outputs of one of these, in the task's own types.
TorchQuestion torch_alternative(const tasks::Task& task, const tasks::Shape& shape,
                                const std::string& name, std::uint64_t capacity_bytes);
/// How long these take in the task's own types. They take turns. `answers` is empty.
TorchQuestion torch_timing(const tasks::Task& task, const tasks::Shape& shape,
                           const std::vector<std::string>& names, const TorchSampling& sampling,
                           std::uint64_t capacity_bytes);

/// The value that a kernel gets: rounded to the scalar's dtype.
nlohmann::json scalar_json(const tasks::ScalarSpec& scalar, double value);
std::vector<std::int64_t> extents_of(const tasks::Task& task, const tasks::TensorSpec& tensor,
                                     const tasks::Shape& shape);

/// The device's name in PyTorch. The child sees only the one GPU, so that is always number 0.
std::string torch_device(const DeviceReport& device);
/// The value of CUDA_VISIBLE_DEVICES that shows only this device; empty: no GPU.
std::string visible_device(const DeviceReport& device);

} // namespace winnow::evaluators
