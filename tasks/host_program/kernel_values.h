#pragma once

#include "tasks/plan/device_facts.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/task/task.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace winnow::tasks {

/// A launch plan to be written as C++.
struct PlanToWrite {
  const KernelFile& file;
  const Task& task;
  const ParameterChoice& choice;
  const std::vector<Shape>& shapes; ///< whose kernels are written; none is hidden
  FactValues facts = {};            ///< HostProgram::facts
};

/// The values in a kernel's name, in the order of late_names().
using NameValues = std::vector<std::int64_t>;

/// The distinct placeholders of a kernel's name whose values depend on the shape or the device: all
/// but parameters and {dtype:BUFFER}.
std::vector<std::string> late_names(const KernelLaunch& launch, const Plan& plan);

/// For each kernel launch, by its line and column: the values of its late_names() at the shapes, on
/// GPUs with any usual number of multiprocessors. If a name depends on another fact about the
/// device or has too many values, those on the one GPU of `facts`. Throws UsageError without
/// `facts`, and if a name depends on a number that is in a tensor.
std::map<std::pair<int, int>, std::set<NameValues>> kernel_values(const PlanToWrite& plan);

} // namespace winnow::tasks
