#include "harness/eval_report.h"

#include "base/text.h"
#include "store/text_table.h"

#include <fmt/format.h>

namespace winnow::harness {
namespace {

std::string microseconds(double ns) {
  return ns > 0 ? fmt::format("{:.2f}", ns / 1000) : "";
}

std::vector<std::string> case_cells(const tasks::CaseResult& result) {
  const bool hidden = tasks::is_hidden(result.set);
  const std::string speedup = result.speedup > 0 ? fmt::format("{:.2f}x", result.speedup) : "";
  return {std::string(to_string(result.stage)),
          hidden ? "(hidden)" : result.shape,
          std::string(to_string(result.verdict)),
          hidden || result.max_error_ratio <= 0 ? ""
                                                : fmt::format("{:.3g}", result.max_error_ratio),
          hidden ? "" : microseconds(result.median_ns),
          hidden ? "" : microseconds(result.baseline_median_ns),
          hidden ? "" : speedup};
}

std::string cases_table(const std::vector<tasks::CaseResult>& cases) {
  if (cases.empty()) {
    return {};
  }
  store::TextTable table;
  table.columns = {{"stage"},           {"shape"},
                   {"verdict"},         {"error/limit", true},
                   {"median us", true}, {"baseline us", true},
                   {"speedup", true}};
  for (const tasks::CaseResult& result : cases) {
    table.rows.push_back(case_cells(result));
  }
  return to_aligned_text(table, 0) + "\n";
}

/// "cublaslt, m=64, n=64: 123.40 us, the candidate takes 0.81x of it"
std::string libraries_text(const std::vector<tasks::CaseResult>& cases) {
  std::string text;
  for (const tasks::CaseResult& result : cases) {
    for (const tasks::LibraryTiming& library : result.libraries) {
      text += fmt::format("{}, {}: ", library.name, result.shape);
      if (library.agrees && library.median_ns > 0) {
        text += microseconds(library.median_ns) + " us";
        text += result.median_ns > 0 ? fmt::format(", the candidate takes {:.2f}x of it",
                                                   result.median_ns / library.median_ns)
                                     : "";
      } else {
        text += "not compared: " + library.error;
      }
      text += "\n";
    }
  }
  return text;
}

std::string resources_table(const tasks::BuildRecord& build) {
  if (build.kernels.empty()) {
    return {};
  }
  store::TextTable table;
  table.columns = {{"kernel (" + build.architecture + ")"},
                   {"registers", true},
                   {"spill B", true},
                   {"stack B", true},
                   {"static shared B", true}};
  for (const tasks::KernelResources& kernel : build.kernels) {
    table.rows.push_back({kernel.kernel, std::to_string(kernel.registers),
                          std::to_string(kernel.spill_store_bytes + kernel.spill_load_bytes),
                          std::to_string(kernel.stack_bytes),
                          std::to_string(kernel.static_shared_bytes)});
  }
  return to_aligned_text(table, 0) + "\n";
}

std::string findings_text(const std::vector<tasks::Finding>& findings) {
  std::string text;
  for (const tasks::Finding& finding : findings) {
    text += fmt::format("machine code: {}: {}\n", to_string(finding.kind), finding.detail);
  }
  return text;
}

} // namespace

std::string parameters_text(const tasks::ParameterChoice& parameters) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : parameters) {
    parts.push_back(fmt::format("{}={}", name, value));
  }
  return parts.empty() ? "no parameters" : join(parts, ", ");
}

std::string circumstances_text(const tasks::Evaluation& evaluation, double seconds) {
  std::string text = fmt::format("{} on {}, isolation {}", evaluation.device,
                                 evaluation.device_name, evaluation.isolation);
  text += evaluation.seed == 0 ? "" : fmt::format(", seed {}", evaluation.seed);
  text += fmt::format(", {:.1f} s\n", seconds);
  return evaluation.unranked.empty()
             ? text
             : text + "boards do not rank it: " + evaluation.unranked + "\n";
}

std::string eval_text(const tasks::Evaluation& evaluation) {
  std::string text = resources_table(evaluation.build) + cases_table(evaluation.cases) +
                     libraries_text(evaluation.cases) + findings_text(evaluation.build.findings);
  text += fmt::format("verdict: {}", to_string(evaluation.verdict));
  if (evaluation.verdict != tasks::Verdict::Correct) {
    text += fmt::format(" ({})", describe(evaluation.verdict));
  }
  if (evaluation.speedup > 0) {
    text += fmt::format(", {:.2f}x the baseline's speed", evaluation.speedup);
  }
  text += "\n";
  if (!evaluation.detail.empty()) {
    text += "detail: " + evaluation.detail + "\n";
  }
  if (evaluation.verdict == tasks::Verdict::CompileError && !evaluation.build.log.empty() &&
      evaluation.detail.find(evaluation.build.log) == std::string::npos) {
    text += evaluation.build.log + "\n";
  }
  for (const std::string& note : evaluation.notes) {
    text += "note: " + note + "\n";
  }
  return text + parameters_text(evaluation.parameters) + "; " +
         circumstances_text(evaluation, evaluation.seconds);
}

} // namespace winnow::harness
