#include "harness/selftest/selftest_report.h"

#include "base/json_dump.h"
#include "base/text.h"
#include "harness/report/text_table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using evaluators::KernelResult;
using evaluators::MutantResult;
using evaluators::NarrowResult;
using nlohmann::json;

template <typename Result>
std::size_t count_of(const std::vector<Result>& results, typename Result::State state) {
  return static_cast<std::size_t>(
      std::count_if(results.begin(), results.end(),
                    [state](const Result& result) { return result.state == state; }));
}

/// The worst result of all mutants of one kind, over all sets of shapes.
std::string cell(const TaskSelftest& selftest, tasks::MutantKind kind) {
  std::string text = "-";
  for (const MutantResult& result : selftest.mutants) {
    if (result.mutant.kind != kind || result.state == MutantResult::State::NotApplicable) {
      continue;
    }
    if (result.state == MutantResult::State::Accepted) {
      return "ACCEPTED " + result.shape_id;
    }
    text = "rejected";
  }
  return text;
}

/// The worst result of all narrowed intermediates with this format.
std::string narrow_cell(const TaskSelftest& selftest, tasks::Precision format) {
  std::string text = "-";
  for (const NarrowResult& result : selftest.narrowed) {
    if (result.narrowing.format != format || result.state == NarrowResult::State::NotApplicable) {
      continue;
    }
    if (!is_as_stated(result)) {
      return fmt::format("{} {}", result.narrowing.is_allowed ? "REFUSED" : "ACCEPTED",
                         result.narrowing.name);
    }
    if (text == "-" || result.narrowing.is_allowed) {
      text = result.narrowing.is_allowed ? "allowed " + result.narrowing.name : "rejected";
    }
  }
  return text;
}

/// Rejected or accepted, over all wrong kernels of one kind.
std::string wrong_cell(const TaskSelftest& selftest, const std::string& kind) {
  std::string text = "-";
  for (const KernelResult& result : selftest.wrong) {
    if (evaluators::wrong_kernel_kind(result.file) != kind ||
        result.state == KernelResult::State::Unsupported) {
      continue;
    }
    if (result.state == KernelResult::State::Accepted) {
      return "ACCEPTED " + result.file;
    }
    text = "rejected";
  }
  return text;
}

/// Adds a row with a cell for each task. Leaves it out if no task has such a result.
void add_row(const SelftestReport& report, std::string title,
             const std::function<std::string(const TaskSelftest&)>& cell_of, TextTable& table) {
  std::vector<std::string> row{std::move(title)};
  bool exists = false;
  for (const TaskSelftest& selftest : report.tasks) {
    row.push_back(cell_of(selftest));
    exists = exists || row.back() != "-";
  }
  if (exists) {
    table.rows.push_back(std::move(row));
  }
}

std::string mutant_table(const SelftestReport& report) {
  TextTable table;
  table.splits = true;
  table.columns.push_back({"mutant"});
  for (const TaskSelftest& selftest : report.tasks) {
    table.columns.push_back({selftest.task});
  }
  for (const tasks::MutantKind kind : tasks::all_mutant_kinds()) {
    add_row(
        report, std::string(to_string(kind)),
        [kind](const TaskSelftest& selftest) { return cell(selftest, kind); }, table);
  }
  for (const tasks::Precision format : tasks::all_precisions()) {
    add_row(
        report, fmt::format("intermediates as {}", to_string(format)),
        [format](const TaskSelftest& selftest) { return narrow_cell(selftest, format); }, table);
  }
  for (const std::string& kind : evaluators::wrong_kernel_kinds()) {
    add_row(
        report, fmt::format("wrong/{}_*.cu", kind),
        [&kind](const TaskSelftest& selftest) { return wrong_cell(selftest, kind); }, table);
  }
  return to_aligned_text(table, 0);
}

std::string accepted_mutants(const TaskSelftest& selftest) {
  std::string text;
  for (const MutantResult& result : selftest.mutants) {
    if (result.state == MutantResult::State::Accepted) {
      text += fmt::format(
          "  mutant accepted on {}: {} (error at most {:.3g} of the limit, at {}){}\n",
          to_string(result.set), to_string(result.mutant), result.max_error_ratio, result.shape_id,
          result.why.empty() ? "" : "; it gives the right answer: choose other shapes or inputs");
    }
  }
  return text;
}

/// The mutants that every shape must reject, and the one that came nearest to passing.
std::string every_shape_line(const TaskSelftest& selftest) {
  int rejected = 0;
  const MutantResult* nearest = nullptr;
  for (const MutantResult& result : selftest.mutants) {
    if (result.mutant.every_shape && result.state == MutantResult::State::Rejected) {
      ++rejected;
      const bool is_nearer =
          nearest == nullptr || result.max_error_ratio < nearest->max_error_ratio;
      nearest = is_nearer ? &result : nearest;
    }
  }
  return nearest == nullptr
             ? ""
             : fmt::format("  {} of them rejected by every shape alone, with an error "
                           "of at least {:.3g} times the limit ({} at {})\n",
                           rejected, nearest->max_error_ratio, to_string(nearest->mutant),
                           nearest->shape_id);
}

std::string ratios_text(const evaluators::ErrorRatios& ratios) {
  return fmt::format("rms {:.3g} of its limit, largest element {:.3g}", ratios.norm,
                     ratios.element);
}

std::string narrow_line(const NarrowResult& result) {
  return fmt::format("    {} at {}: {}{}, {}\n", to_string(result.narrowing), result.shape_id,
                     to_string(result.state),
                     result.narrowing.is_allowed ? " (task.toml allows it)" : "",
                     ratios_text(result.ratios));
}

std::string narrow_lines(const TaskSelftest& selftest, bool verbose) {
  std::map<NarrowResult::State, int> counts;
  const NarrowResult* nearest = nullptr;
  std::string text;
  for (const NarrowResult& result : selftest.narrowed) {
    ++counts[result.state];
    if (verbose || !is_as_stated(result)) {
      text += narrow_line(result);
    }
    if (result.state == NarrowResult::State::Rejected &&
        (nearest == nullptr || result.ratios.larger() < nearest->ratios.larger())) {
      nearest = &result;
    }
  }
  if (selftest.narrowed.empty()) {
    return "";
  }
  return fmt::format("  narrowed intermediates: {} rejected, {} accepted{}\n",
                     counts[NarrowResult::State::Rejected], counts[NarrowResult::State::Accepted],
                     nearest == nullptr
                         ? ""
                         : fmt::format("; the least error that is rejected is {:.3g} times the "
                                       "limit ({} at {})",
                                       nearest->ratios.larger(), to_string(nearest->narrowing),
                                       nearest->shape_id)) +
         text;
}

std::string measured_lines(const KernelResult& result) {
  std::string text;
  for (const evaluators::MeasuredErrors& measured : result.measured) {
    text += fmt::format("    {} {}at {}: {}\n", result.file,
                        result.parameters.empty() ? ""
                                                  : tasks::parameters_text(result.parameters) + " ",
                        measured.shape_id, ratios_text(measured.ratios));
  }
  return text;
}

std::string wrong_lines(const TaskSelftest& selftest) {
  std::string text;
  for (const KernelResult& result : selftest.wrong) {
    const std::string parameters = tasks::parameters_text(result.parameters);
    text += fmt::format("    {}{}{} {}{}\n", result.file, parameters.empty() ? "" : " ", parameters,
                        to_string(result.state),
                        result.detail.empty() ? "" : ": " + on_one_line(result.detail));
  }
  return text.empty() ? "" : "  wrong kernels:\n" + text;
}

std::string honest_lines(const TaskSelftest& selftest, bool verbose) {
  std::string text;
  double worst = 0;
  int cases = 0;
  for (const KernelResult& result : selftest.honest) {
    cases += result.cases;
    text += verbose ? measured_lines(result) : "";
    if (result.state == KernelResult::State::Accepted) {
      worst = std::max(worst, result.max_error_ratio);
      continue;
    }
    const std::string parameters = tasks::parameters_text(result.parameters);
    text += fmt::format("  {}{}{} {}: {}\n", result.file, parameters.empty() ? "" : " ", parameters,
                        to_string(result.state), result.detail);
  }
  return fmt::format("  honest kernels: {} of {} accepted in {} cases, with an error of at most "
                     "{:.3g} of the limit\n",
                     count_of(selftest.honest, KernelResult::State::Accepted),
                     selftest.honest.size(), cases, worst) +
         text;
}

std::string reference_lines(const ReferenceAgreement& reference) {
  std::string text = fmt::format("  reference.cu and reference.py: {}", to_string(reference.state));
  if (!reference.source.empty()) {
    text += fmt::format(" by {} at {} shapes, {} of them in float64", reference.source,
                        reference.shapes, reference.in_float64);
  }
  text += reference.detail.empty() ? "\n" : "; " + reference.detail + "\n";
  for (const std::string& note : reference.notes) {
    text += "    " + on_one_line(note) + "\n";
  }
  return text;
}

std::string warning_lines(const TaskSelftest& selftest) {
  std::string text;
  for (const std::string& warning : warnings(selftest)) {
    text += "  warning: " + warning + "\n";
  }
  return text;
}

json finite(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}

json mutant_json(const MutantResult& result) {
  return {{"mutant", to_string(result.mutant)},
          {"kind", to_string(result.mutant.kind)},
          {"every_shape", result.mutant.every_shape},
          {"shape_set", to_string(result.set)},
          {"state", to_string(result.state)},
          {"shape_id", result.shape_id},
          {"verdict", to_string(result.verdict)},
          {"max_error_ratio", finite(result.max_error_ratio)},
          {"why", result.why}};
}

json narrow_json(const NarrowResult& result) {
  return {{"intermediate", result.narrowing.name},
          {"format", to_string(result.narrowing.format)},
          {"allowed", result.narrowing.is_allowed},
          {"state", to_string(result.state)},
          {"shape_id", result.shape_id},
          {"verdict", to_string(result.verdict)},
          {"rms_ratio", finite(result.ratios.norm)},
          {"element_ratio", finite(result.ratios.element)}};
}

json measured_json(const KernelResult& result) {
  json all = json::array();
  for (const evaluators::MeasuredErrors& measured : result.measured) {
    all.push_back({{"shape_id", measured.shape_id},
                   {"rms_ratio", finite(measured.ratios.norm)},
                   {"element_ratio", finite(measured.ratios.element)}});
  }
  return all;
}

json kernel_json(const KernelResult& result) {
  return {{"file", result.file},
          {"parameters", result.parameters},
          {"state", to_string(result.state)},
          {"cases", result.cases},
          {"verdict", to_string(result.verdict)},
          {"max_error_ratio", finite(result.max_error_ratio)},
          {"measured", measured_json(result)},
          {"run_seconds", result.run_seconds},
          {"detail", result.detail}};
}

json task_json(const TaskSelftest& selftest) {
  const auto list = [](const auto& results, const auto& to_json) {
    json all = json::array();
    for (const auto& result : results) {
      all.push_back(to_json(result));
    }
    return all;
  };
  const ReferenceAgreement& reference = selftest.reference;
  return {{"task", selftest.task},
          {"task_digest", selftest.digest},
          {"proven", is_proven(selftest)},
          {"failure", selftest.failure},
          {"seconds", selftest.seconds},
          {"mutants", list(selftest.mutants, mutant_json)},
          {"narrowed", list(selftest.narrowed, narrow_json)},
          {"honest", list(selftest.honest, kernel_json)},
          {"wrong", list(selftest.wrong, kernel_json)},
          {"memorisable", selftest.memorisable},
          {"warnings", warnings(selftest)},
          {"reference",
           {{"state", to_string(reference.state)},
            {"source", reference.source},
            {"shapes", reference.shapes},
            {"in_float64", reference.in_float64},
            {"notes", reference.notes},
            {"detail", reference.detail}}}};
}

} // namespace

bool is_proven(const TaskSelftest& selftest) {
  return count_of(selftest.mutants, MutantResult::State::Accepted) == 0 &&
         count_of(selftest.mutants, MutantResult::State::Rejected) > 0 &&
         std::all_of(selftest.narrowed.begin(), selftest.narrowed.end(),
                     [](const NarrowResult& result) { return is_as_stated(result); }) &&
         count_of(selftest.wrong, KernelResult::State::Accepted) == 0 &&
         count_of(selftest.honest, KernelResult::State::Rejected) == 0 &&
         count_of(selftest.honest, KernelResult::State::Accepted) > 0 &&
         (selftest.is_module || selftest.reference.state == ReferenceAgreement::State::Agrees);
}

std::string task_lines(const TaskSelftest& selftest, bool verbose) {
  if (!selftest.failure.empty()) {
    return fmt::format("{}: NOT PROVEN\n  no result: {}\n", selftest.task, selftest.failure);
  }
  return fmt::format("{}: {}\n  mutants: {} rejected, {} accepted (counted for each mutant "
                     "on each set of shapes, or on each shape)\n",
                     selftest.task, is_proven(selftest) ? "proven" : "NOT PROVEN",
                     count_of(selftest.mutants, MutantResult::State::Rejected),
                     count_of(selftest.mutants, MutantResult::State::Accepted)) +
         accepted_mutants(selftest) + every_shape_line(selftest) + narrow_lines(selftest, verbose) +
         honest_lines(selftest, verbose) + wrong_lines(selftest) +
         (selftest.is_module ? "  the reference is the module in reference.py\n"
                             : reference_lines(selftest.reference)) +
         warning_lines(selftest);
}

std::string to_text(const SelftestReport& report, bool verbose) {
  std::string text = mutant_table(report) + "\n";
  std::size_t honest = 0, accepted = 0, proven = 0;
  for (const TaskSelftest& selftest : report.tasks) {
    text += task_lines(selftest, verbose);
    honest += selftest.honest.size();
    accepted += count_of(selftest.honest, KernelResult::State::Accepted);
    proven += is_proven(selftest) ? 1U : 0U;
  }
  return text + fmt::format("{} of {} tasks proven, {} of {} honest kernels accepted, on {} ({}), "
                            "seed {}\n",
                            proven, report.tasks.size(), accepted, honest, report.device,
                            report.device_name, report.seed);
}

std::string to_json_text(const SelftestReport& report) {
  json tasks = json::array();
  for (const TaskSelftest& selftest : report.tasks) {
    tasks.push_back(task_json(selftest));
  }
  const json document{{"schema", "winnow.selftest"},
                      {"version", 3},
                      {"device", report.device},
                      {"device_name", report.device_name},
                      {"seed", std::to_string(report.seed)},
                      {"tasks", tasks}};
  return json_document(document);
}

} // namespace winnow::harness
