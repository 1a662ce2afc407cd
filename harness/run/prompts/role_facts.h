#pragma once

#include "store/run_store.h"
#include "tasks/result/evaluation.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::harness {

/// Facts of a kernel's record by name: the time and the share of the speed of light, resources,
/// occupancy, and each hardware counter that was read ("dram_throughput_pct"). The value is the
/// mean over the profiled search shapes; of times the geometric mean. No fact comes from a hidden
/// shape.
std::map<std::string, double> record_facts(const tasks::Evaluation& evaluation);

/// "dram_throughput_pct = 41.2".
std::vector<std::string> fact_lines(const std::map<std::string, double>& facts);

/// The judge's predictions beside the change from the parent's facts to the child's, both in per
/// cent. A prediction is right if the fact has changed in its direction by kVisiblePercent at
/// least. A fact that either record lacks, or that was 0, is left out.
std::vector<store::AdviceScore> judge_scores(std::string_view advice,
                                             const std::map<std::string, double>& parent,
                                             const std::map<std::string, double>& child,
                                             store::RowId child_id);
constexpr double kVisiblePercent = 2;

} // namespace winnow::harness
