#include "harness/report/eval_report.h"

#include "base/text.h"
#include "store/text_table.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

constexpr const char* kSpeedupNote =
    "speedup: the median of baseline / candidate, launch beside launch, so it is not quite the "
    "quotient of the two medians; 95 %: its interval";

std::string microseconds(double ns) {
  return ns > 0 ? fmt::format("{:.2f}", ns / 1000) : "";
}

/// "0.93-1.03"; empty if unknown.
std::string bounds_text(const tasks::Bounds& bounds) {
  return bounds.known() ? fmt::format("{:.2f}-{:.2f}", bounds.low, bounds.high) : "";
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
          hidden ? "" : speedup,
          hidden ? "" : bounds_text(result.speedup_bounds)};
}

/// Check mode runs all tiny shapes at once, so its failure is not a case of one shape.
bool failed_in_check_mode(const tasks::Evaluation& evaluation) {
  using tasks::Verdict;
  const Verdict verdict = evaluation.verdict;
  const bool failed = verdict != Verdict::Correct && verdict != Verdict::NotJudged &&
                      verdict != Verdict::Infrastructure;
  return failed &&
         (evaluation.stage == tasks::Stage::Check || evaluation.stage == tasks::Stage::Tiny) &&
         std::none_of(evaluation.cases.begin(), evaluation.cases.end(),
                      [verdict](const auto& result) { return result.verdict == verdict; });
}

std::string cases_table(const tasks::Evaluation& evaluation) {
  if (evaluation.cases.empty()) {
    return {};
  }
  store::TextTable table;
  table.columns = {{"stage"},           {"shape"},
                   {"verdict"},         {"error / limit", true},
                   {"median us", true}, {"baseline us", true},
                   {"speedup", true},   {"95 %", true}};
  for (const tasks::CaseResult& result : evaluation.cases) {
    table.rows.push_back(case_cells(result));
  }
  if (failed_in_check_mode(evaluation)) {
    std::vector<std::string>& row = table.rows.emplace_back(table.columns.size());
    row[0] = to_string(tasks::Stage::Check);
    row[1] = "(all tiny shapes)";
    row[2] = to_string(evaluation.verdict);
  }
  store::remove_empty_columns(table);
  const bool timed = std::any_of(evaluation.cases.begin(), evaluation.cases.end(),
                                 [](const tasks::CaseResult& result) {
                                   return result.speedup > 0 && !tasks::is_hidden(result.set);
                                 });
  return to_aligned_text(table, 0) +
         (timed ? wrap_line(kSpeedupNote, store::table_columns(), 0) + "\n\n" : "\n");
}

std::string hidden_text(const tasks::Evaluation& evaluation) {
  std::string text;
  for (const tasks::CaseResult& result : evaluation.cases) {
    if (tasks::is_hidden(result.set) && result.verdict == tasks::Verdict::Correct &&
        !result.detail.empty()) {
      text += "hidden shape, " + result.detail + "\n";
    }
  }
  return evaluation.hidden_speedup > 0
             ? text + fmt::format("hidden shapes: {:.2f}x the baseline's speed\n",
                                  evaluation.hidden_speedup)
             : text;
}

/// For each failing verdict in the table, the reason at its first shape. The deciding verdict is
/// left out, because its reason is printed anyway.
std::string other_failures(const tasks::Evaluation& evaluation) {
  std::string text;
  std::set<tasks::Verdict> told{evaluation.verdict, tasks::Verdict::Correct,
                                tasks::Verdict::NotJudged};
  for (const tasks::CaseResult& result : evaluation.cases) {
    if (tasks::is_hidden(result.set) || result.detail.empty()) {
      continue;
    }
    const bool said = evaluation.detail.find(result.detail) != std::string::npos;
    if (told.insert(result.verdict).second && !said) {
      text += fmt::format("also {}: {} ({}): {}\n", to_string(result.verdict), result.shape_id,
                          result.shape, result.detail);
    }
  }
  return text;
}

/// Lines of the compiler's log that are not in the detail already.
std::string rest_of_log(const tasks::Evaluation& evaluation) {
  std::string text;
  const std::string detail = evaluation.detail + "\n";
  for (const std::string_view line : split_lines(evaluation.build.log)) {
    const bool told = detail.find(std::string(line) + "\n") != std::string::npos;
    text += told ? "" : std::string(line) + "\n";
  }
  return text;
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

std::string verdict_with_reason(const tasks::Evaluation& evaluation) {
  const bool compiled_only =
      evaluation.verdict == tasks::Verdict::NotJudged && evaluation.stage == tasks::Stage::Compile;
  if (compiled_only) {
    return "compiles (nothing was run)";
  }
  const std::string name(to_string(evaluation.verdict));
  return evaluation.verdict == tasks::Verdict::Correct
             ? name
             : fmt::format("{} ({})", name, describe(evaluation.verdict));
}

} // namespace

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
  std::string text = resources_table(evaluation.build) + cases_table(evaluation) +
                     hidden_text(evaluation) + libraries_text(evaluation.cases) +
                     findings_text(evaluation.build.findings);
  text += "verdict: " + verdict_with_reason(evaluation);
  if (evaluation.speedup > 0) {
    text += fmt::format(", {:.2f}x the baseline's speed", evaluation.speedup);
    const std::string bounds = bounds_text(evaluation.speedup_bounds);
    text += bounds.empty() ? "" : " (95 %: " + bounds + ")";
    text += ", the geometric mean over the shapes that were timed";
  }
  text += "\n";
  if (!evaluation.detail.empty()) {
    text += "detail: " + evaluation.detail + "\n";
  }
  text += other_failures(evaluation);
  text += evaluation.verdict == tasks::Verdict::CompileError ? rest_of_log(evaluation) : "";
  for (const std::string& note : evaluation.notes) {
    text += "note: " + note + "\n";
  }
  const std::string parameters = tasks::parameters_text(evaluation.parameters);
  return text + (parameters.empty() ? "no parameters" : parameters) + "; " +
         circumstances_text(evaluation, evaluation.seconds);
}

} // namespace winnow::harness
