#pragma once

#include "evaluators/evaluation/evaluator.h"
#include "store/baselines.h"
#include "tasks/task.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace winnow::harness {

struct TorchBaselineOptions {
  evaluators::EvaluationOptions evaluation; ///< device, time budget, cache, isolation
  std::filesystem::path python;
  std::chrono::milliseconds timeout{300'000}; ///< one answer: load, compile, run, time
  /// Told of each shape before it is run; may be empty.
  std::function<void(const tasks::Shape&)> progress;
};

struct TorchBaseline {
  evaluators::DeviceReport device;
  std::string version;    ///< of PyTorch
  std::string no_compile; ///< why nothing is compiled; empty: it is
  /// Eager and compiled at each tiny shape (compared only) and each search shape of the device.
  std::vector<store::BaselineTiming> timings;
};

/// Runs the task's reference.py with PyTorch and compares each answer with that of reference.cu.
/// Throws DeviceUnavailable, and Error where PyTorch is missing or the task's own files are broken;
/// a shape that PyTorch cannot run is in the result.
TorchBaseline measure_torch(const tasks::Task& task, const TorchBaselineOptions& options);

/// False when some answer differs from that of reference.cu.
bool agrees(const TorchBaseline& baseline);

/// A table for a person, with a line for each thing that went wrong.
std::string to_text(const TorchBaseline& baseline);
/// Schema "winnow.baselines", version 1.
std::string to_json_text(const tasks::Task& task, const TorchBaseline& baseline);

} // namespace winnow::harness
