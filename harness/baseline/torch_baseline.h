#pragma once

#include "evaluators/device/device_report.h"
#include "evaluators/evaluation/evaluation_options.h"
#include "store/baselines.h"
#include "tasks/task/task.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

struct TorchBaselineOptions {
  evaluators::EvaluationOptions evaluation; ///< device, time budget, cache, isolation
  std::filesystem::path python;
  std::chrono::milliseconds timeout{300'000}; ///< for one answer: load, compile, run, time
  bool compile = true;                        ///< false: only the eager model is run
  unsigned jobs = 0; ///< tasks side by side; 0: one for each two cores, but at most eight
  std::function<void(const tasks::Shape&)> progress = [](const tasks::Shape&) {}; ///< before each
};

struct TorchBaseline {
  evaluators::DeviceReport device;
  std::string version;    ///< the version of PyTorch
  std::string no_compile; ///< why the model is not compiled; empty: it is compiled
  /// Timings of the eager and the compiled model, and of the alternatives in expert.py: tiny shapes
  /// are only compared, the device's search shapes are timed as well.
  std::vector<store::BaselineTiming> timings;
  std::string no_alternative; ///< why expert.py has none; empty: it has some
};

/// Runs the task's reference.py and expert.py with PyTorch and compares each answer with that of
/// reference.cu; or, where reference.py is the reference, the ways in which PyTorch runs it, each
/// compared with it in float64. Throws DeviceUnavailable, and Error if PyTorch is missing or the
/// task's own files are broken. If PyTorch cannot run a shape, the result says so.
TorchBaseline measure_torch(const tasks::Task& task, const TorchBaselineOptions& options);

/// measure_torch() of all tasks; `done` gets each result. Up to eight tasks, one for each two
/// cores, compile and answer side by side; then they are timed one after the other. The log names a
/// task that throws Error, and the next one follows; false: there was one. Throws
/// DeviceUnavailable.
bool for_each_torch_baseline(
    const std::vector<tasks::Task>& tasks, const TorchBaselineOptions& options,
    const std::function<void(const tasks::Task&, const TorchBaseline&)>& done);

/// False if an answer of the model, eager or compiled, differs from that of reference.cu. An
/// alternative may: many are of another precision.
bool agrees(const TorchBaseline& baseline);

/// Schema "winnow.baselines", version 1.
nlohmann::json torch_json(const tasks::Task& task, const TorchBaseline& baseline);
/// The document as a table for users, with a line for each error.
std::string torch_text(const nlohmann::json& document);

} // namespace winnow::harness
