#pragma once

#include "evaluators/evaluation/evaluation_options.h"
#include "evaluators/host/device_host.h"
#include "store/baselines.h"
#include "tasks/result/evaluation.h"
#include "tasks/task/task.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace winnow::harness {

/// A task's baseline at one search shape, beside libraries and frameworks.
struct BaselineRow {
  std::string task;
  std::string shape;                    ///< "m=4096, n=4096, k=4096"
  double median_ns = 0;                 ///< of the baseline; 0: not timed
  std::optional<double> speed_of_light; ///< share of it, 0 to 1
  std::string bound;                    ///< of the speed of light: "DRAM's peak"
  std::vector<tasks::LibraryTiming> libraries;
  std::optional<store::BaselineTiming> eager, compiled; ///< nullopt: the store has none
  std::string note;                                     ///< what went wrong; usually empty
};

/// Times the baseline of one task after the other on one device.
class BaselineTable {
public:
  /// Opens the device, and measures its ceilings if this machine has none on file. `task_limit`:
  /// wall-clock time for one task, 0: none. Throws DeviceUnavailable, UsageError, Error.
  BaselineTable(evaluators::EvaluationOptions options, std::chrono::milliseconds task_limit);

  const evaluators::DeviceReport& device() const;
  /// Compiles the kernels of these tasks into the cache on another core, while rows() uses the
  /// device. Call once.
  void compile_ahead(std::vector<tasks::Task> tasks);
  /// One row for each search shape of the device. `stored`: timings of the task on this device, as
  /// RunStore::baseline_timings() returns them. What goes wrong is in the rows.
  std::vector<BaselineRow> rows(tasks::Task task, const std::vector<store::BaselineTiming>& stored);

private:
  std::string time(const tasks::Task& task, std::vector<BaselineRow>& rows,
                   const std::vector<tasks::Shape>& shapes);

  evaluators::EvaluationOptions options_;
  std::chrono::milliseconds task_limit_;
  std::shared_ptr<evaluators::DeviceHost> host_;
  std::jthread ahead_; ///< last, because the thread uses the host
};

/// The rows of a Markdown table. `with_head`: the two lines of the head come first.
std::string baseline_table_text(const std::vector<BaselineRow>& rows, bool with_head);

} // namespace winnow::harness
