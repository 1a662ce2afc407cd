#include "harness/selftest/selftest_report.h"

#include "base/json_dump.h"
#include "base/text.h"
#include "store/text_table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using evaluators::HonestResult;
using evaluators::MutantResult;
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

std::string mutant_table(const SelftestReport& report) {
  store::TextTable table;
  table.splits = true;
  table.columns.push_back({"mutant"});
  for (const TaskSelftest& selftest : report.tasks) {
    table.columns.push_back({selftest.task});
  }
  for (const tasks::MutantKind kind : tasks::all_mutant_kinds()) {
    table.rows.push_back({std::string(to_string(kind))});
    bool exists = false;
    for (const TaskSelftest& selftest : report.tasks) {
      table.rows.back().push_back(cell(selftest, kind));
      exists = exists || table.rows.back().back() != "-";
    }
    if (!exists) {
      table.rows.pop_back();
    }
  }
  return to_aligned_text(table, 0);
}

std::string accepted_mutants(const TaskSelftest& selftest) {
  std::string text;
  for (const MutantResult& result : selftest.mutants) {
    if (result.state == MutantResult::State::Accepted) {
      text += fmt::format(
          "  mutant accepted on {}: {} (error at most {:.3g} of the limit, at {})\n",
          to_string(result.set), to_string(result.mutant), result.max_error_ratio, result.shape_id);
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

std::string honest_lines(const TaskSelftest& selftest) {
  std::string text;
  double worst = 0;
  int cases = 0;
  for (const HonestResult& result : selftest.honest) {
    cases += result.cases;
    if (result.state == HonestResult::State::Accepted) {
      worst = std::max(worst, result.max_error_ratio);
      continue;
    }
    const std::string parameters = tasks::parameters_text(result.parameters);
    text += fmt::format("  {}{}{} {}: {}\n", result.file, parameters.empty() ? "" : " ", parameters,
                        to_string(result.state), result.detail);
  }
  return fmt::format("  honest kernels: {} of {} accepted in {} cases, with an error of at most "
                     "{:.3g} of the limit\n",
                     count_of(selftest.honest, HonestResult::State::Accepted),
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
    text += "    " + store::on_one_line(note) + "\n";
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

std::string task_lines(const TaskSelftest& selftest) {
  return fmt::format("{}: {}\n  mutants: {} rejected, {} accepted (counted for each mutant "
                     "on each set of shapes, or on each shape)\n",
                     selftest.task, is_proven(selftest) ? "proven" : "NOT PROVEN",
                     count_of(selftest.mutants, MutantResult::State::Rejected),
                     count_of(selftest.mutants, MutantResult::State::Accepted)) +
         accepted_mutants(selftest) + every_shape_line(selftest) + honest_lines(selftest) +
         (selftest.is_module ? "  the reference is the module in reference.py\n"
                             : reference_lines(selftest.reference)) +
         warning_lines(selftest);
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

json honest_json(const HonestResult& result) {
  return {{"file", result.file},
          {"parameters", result.parameters},
          {"state", to_string(result.state)},
          {"cases", result.cases},
          {"max_error_ratio", finite(result.max_error_ratio)},
          {"detail", result.detail}};
}

json task_json(const TaskSelftest& selftest) {
  json mutants = json::array(), honest = json::array();
  for (const MutantResult& result : selftest.mutants) {
    mutants.push_back(mutant_json(result));
  }
  for (const HonestResult& result : selftest.honest) {
    honest.push_back(honest_json(result));
  }
  const ReferenceAgreement& reference = selftest.reference;
  return {{"task", selftest.task},
          {"task_digest", selftest.digest},
          {"proven", is_proven(selftest)},
          {"mutants", mutants},
          {"honest", honest},
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
         count_of(selftest.honest, HonestResult::State::Rejected) == 0 &&
         count_of(selftest.honest, HonestResult::State::Accepted) > 0 &&
         (selftest.is_module || selftest.reference.state == ReferenceAgreement::State::Agrees);
}

std::string to_text(const SelftestReport& report) {
  std::string text = mutant_table(report) + "\n";
  std::size_t honest = 0, accepted = 0, proven = 0;
  for (const TaskSelftest& selftest : report.tasks) {
    text += task_lines(selftest);
    honest += selftest.honest.size();
    accepted += count_of(selftest.honest, HonestResult::State::Accepted);
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
                      {"version", 2},
                      {"device", report.device},
                      {"device_name", report.device_name},
                      {"seed", std::to_string(report.seed)},
                      {"tasks", tasks}};
  return json_document(document);
}

} // namespace winnow::harness
