#pragma once

#include "evaluators/evaluation/device_pool.h"
#include "tasks/result/verdict.h"
#include "tasks/task/task.h"

#include <functional>
#include <map>
#include <string>

namespace winnow {

/// How fast candidates were judged.
struct MeasuredThroughput {
  int count = 0; ///< of candidates
  double seconds = 0;
  double of_second_half = 0; ///< candidates a minute; 0: there is only one candidate
  double counting_ms = 0;    ///< of all candidates together
  double coordinator_s = 0;  ///< CPU time of this process
  std::map<tasks::Verdict, int> verdicts;

  double a_minute() const { return 60 * count / seconds; }
  double coordinator_percent() const { return 100 * coordinator_s / seconds; }
  double coordinator_ms() const { return 1e3 * coordinator_s / count; }
};

/// The text of a kernel file.
using MakeKernel = std::function<std::string(int number, bool faulty)>;

/// Judges `count` kernels, `faults` of them faulty, all queued at once.
MeasuredThroughput judge_all(const tasks::Task& task, const evaluators::Protocol& protocol,
                             const evaluators::DevicePool& devices, const MakeKernel& make,
                             int count, int faults);

void print(const MeasuredThroughput& measured, const evaluators::DevicePool& devices);

/// The head of a table with a row for each number of GPUs.
void print_head_of_gpus();
/// `first`: what was measured with `first_gpus` GPUs. "Of linear" compares with it.
void print_row_of_gpus(int gpus, const MeasuredThroughput& measured, int first_gpus,
                       const MeasuredThroughput& first);

} // namespace winnow
