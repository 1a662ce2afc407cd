#include "harness/report/profile_report.h"

#include "base/text.h"
#include "evaluators/evaluation/profile.h"
#include "harness/report/eval_report.h"
#include "harness/report/profile_table.h"
#include "harness/report/timed_shapes.h"
#include "store/text_table.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using evaluators::ProfiledShape;
using nlohmann::json;
using tasks::CaseResult;
using tasks::Evaluation;

constexpr std::size_t kFindings = 2; ///< findings per shape: the limiter and the next one
constexpr const char* kKernel = "kernel";
constexpr const char* kAgainst = "against";

std::optional<ProfiledShape> profile_at(const std::vector<ProfiledShape>& profiles,
                                        const std::string& shape_id) {
  const auto found = std::find_if(profiles.begin(), profiles.end(), [&](const ProfiledShape& one) {
    return one.shape_id == shape_id;
  });
  return found != profiles.end() ? std::optional(*found) : std::nullopt;
}

std::optional<double> spill_bytes(const Evaluation& evaluation,
                                  const std::optional<ProfiledShape>& profile) {
  for (const tasks::KernelResources& kernel : evaluation.build.kernels) {
    if (profile && kernel.kernel == profile->launch.kernel) {
      return kernel.spill_store_bytes + kernel.spill_load_bytes;
    }
  }
  return std::nullopt;
}

ProfileColumn column_of(const Evaluation& evaluation, const CaseResult& timed) {
  ProfileColumn column;
  column.timed = timed;
  column.profile = profile_at(evaluators::profile_of(evaluation), timed.shape_id);
  column.spill_bytes = spill_bytes(evaluation, column.profile);
  for (const CaseResult& own : evaluation.cases) {
    if (own.stage == tasks::Stage::Time && own.shape_id == timed.shape_id) {
      column.warm_median_ns = tasks::median(own.warm_samples_ns);
    }
  }
  return column;
}

/// The columns at one shape: the kernel and, if given, the other kernel.
struct ShapeColumns {
  std::string shape;
  std::vector<ProfileColumn> columns;
};

std::vector<ShapeColumns> columns_of(const ProfileReport& report) {
  std::vector<ShapeColumns> all;
  for (const TimedShape& shape : timed_shapes(report.kernel.evaluation)) {
    ShapeColumns& one = all.emplace_back();
    one.shape = shape.timed->shape;
    one.columns.push_back(column_of(report.kernel.evaluation, *shape.timed));
    one.columns[0].heading = kKernel;
    if (report.against && shape.rival_median_ns > 0) {
      one.columns.push_back(column_of(report.against->evaluation, rival_case(shape)));
      one.columns[1].heading = kAgainst;
    }
  }
  return all;
}

std::string tables(const std::vector<ShapeColumns>& shapes) {
  std::string text;
  std::vector<ProfileColumn> alone;
  for (const ShapeColumns& shape : shapes) {
    if (shape.columns.size() == 2) {
      text += profile_table(shape.shape, shape.columns, true) + "\n";
    } else {
      alone.push_back(shape.columns.front());
      alone.back().heading = shape.shape;
    }
  }
  return alone.empty() ? text : profile_table("shape", alone, false) + "\n" + text;
}

/// Lines below the table: the evidence for each limiter, and why there is no speed of light.
std::string shape_lines(const ShapeColumns& shape) {
  std::string text;
  for (const ProfileColumn& column : shape.columns) {
    if (!column.profile) {
      continue;
    }
    const profiling::ShapeProfile& profile = column.profile->shape;
    const std::string who =
        shape.columns.size() == 2 ? shape.shape + ", " + column.heading : shape.shape;
    for (std::size_t i = 0; i < std::min(kFindings, profile.findings.size()); ++i) {
      const profiling::LimiterFinding& finding = profile.findings[i];
      text += fmt::format("{}: {}: {}: {}\n", who, i == 0 ? "limiter" : "next",
                          to_string(finding.limiter), store::on_one_line(finding.because));
    }
    if (profile.speed_of_light) {
      const std::string& note = profile.speed_of_light->note;
      text +=
          fmt::format("{}: {}: {}{}\n", who, share_text(*profile.speed_of_light),
                      least_time_text(*profile.speed_of_light), note.empty() ? "" : "; " + note);
    }
  }
  return text;
}

/// Collects each reason once, with everything that it explains.
class Reasons {
public:
  void add(const std::string& reason, const std::string& what) {
    const std::string line = store::on_one_line(reason);
    if (line.empty()) {
      return;
    }
    auto found = std::find_if(reasons_.begin(), reasons_.end(),
                              [&](const auto& one) { return one.first == line; });
    if (found == reasons_.end()) {
      found = reasons_.insert(reasons_.end(), {line, {}});
    }
    std::vector<std::string>& named = found->second;
    if (std::find(named.begin(), named.end(), what) == named.end()) {
      named.push_back(what);
    }
  }
  std::string text() const {
    std::string text;
    for (const auto& [reason, what] : reasons_) {
      text += fmt::format("not known: {} ({})\n", join(what, ", "), reason);
    }
    return text;
  }

private:
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons_;
};

void add_reasons(const ProfiledShape& profile, Reasons& reasons) {
  const profiling::CounterReport& report = profile.shape.counters;
  reasons.add(report.unavailable, "all counters");
  reasons.add(profile.shape.speed_of_light ? "" : profile.shape.no_speed_of_light,
              "speed of light");
  reasons.add(profile.energy.joules_per_launch ? "" : profile.energy.reason, "energy");
  for (const auto& [key, counter] : report.counters) {
    if (!counter.value && report.unavailable.empty()) {
      reasons.add(counter.reason.empty() ? "no reason given" : counter.reason, counter_title(key));
    }
  }
}

std::string reasons_text(const std::vector<ShapeColumns>& shapes) {
  Reasons reasons;
  for (const ShapeColumns& shape : shapes) {
    for (const ProfileColumn& column : shape.columns) {
      if (column.profile) {
        add_reasons(*column.profile, reasons);
      } else {
        reasons.add("counters were not asked for, or could not be taken: see the notes",
                    "counters, launch, limiter, speed of light, energy");
      }
    }
  }
  return reasons.text();
}

std::string methods_text(const std::vector<ShapeColumns>& shapes) {
  std::string text;
  for (const ShapeColumns& shape : shapes) {
    const std::optional<ProfiledShape>& profile = shape.columns.front().profile;
    if (profile && !profile->energy.method.empty()) {
      text += fmt::format("{}: energy: {}\n", shape.shape, profile->energy.method);
    }
  }
  for (const ShapeColumns& shape : shapes) {
    const std::optional<ProfiledShape>& profile = shape.columns.front().profile;
    if (profile && profile->shape.counters.passes > 0) {
      const profiling::CounterReport& report = profile->shape.counters;
      return text + fmt::format("counters: {}, {} pass{} in {:.0f} ms a shape\n", report.provider,
                                report.passes, report.passes == 1 ? "" : "es", report.collect_ms);
    }
  }
  return text;
}

std::string libraries_text(const std::vector<ShapeColumns>& shapes) {
  std::string text;
  for (const ShapeColumns& shape : shapes) {
    const CaseResult& timed = shape.columns.front().timed;
    for (const tasks::LibraryTiming& library : timed.libraries) {
      text += fmt::format("{}: {}: ", timed.shape, library.name);
      text += library.agrees && library.median_ns > 0
                  ? fmt::format("{}, the kernel takes {:.2f}x of it\n",
                                time_text(library.median_ns), timed.median_ns / library.median_ns)
                  : "not compared: " + store::on_one_line(library.error) + "\n";
    }
  }
  return text;
}

std::string kernel_lines(const char* name, const ProfiledKernel& kernel) {
  const Evaluation& evaluation = kernel.evaluation;
  std::string text = fmt::format("{}: {}", name, store::on_one_line(kernel.file));
  text += evaluation.parameters.empty() ? "" : ", " + tasks::parameters_text(evaluation.parameters);
  text += fmt::format(": {}", to_string(evaluation.verdict));
  if (evaluation.speedup > 0) {
    const std::string interval = ratio_interval_text(evaluation.speedup_bounds);
    text += fmt::format(", {} the baseline's speed{}", ratio_text(evaluation.speedup),
                        interval.empty() ? "" : ": " + interval + " (95 %)");
  }
  text += "\n";
  for (const std::string& note : evaluation.notes) {
    text += "  note: " + store::on_one_line(note) + "\n";
  }
  for (const tasks::Finding& finding : evaluation.build.findings) {
    text += fmt::format("  machine code: {}: {}\n", to_string(finding.kind), finding.detail);
  }
  return text;
}

const ProfiledKernel* not_correct(const ProfileReport& report) {
  if (report.against && report.against->evaluation.verdict != tasks::Verdict::Correct) {
    return &*report.against;
  }
  return report.kernel.evaluation.verdict != tasks::Verdict::Correct ? &report.kernel : nullptr;
}

json column_json(const ProfileColumn& column) {
  const CaseResult& timed = column.timed;
  json document{{"median_ns", measured_json(timed.median_ns)},
                {"median_low_ns", low_json(timed.median_bounds_ns)},
                {"median_high_ns", high_json(timed.median_bounds_ns)},
                {"warm_median_ns", measured_json(column.warm_median_ns)},
                {"baseline_median_ns", measured_json(timed.baseline_median_ns)},
                {"speedup", measured_json(timed.speedup)},
                {"speedup_low", low_json(timed.speedup_bounds)},
                {"speedup_high", high_json(timed.speedup_bounds)},
                {"launches_timed", timed.samples_ns.size()},
                {"conditions", timed.conditions},
                {"profile", column.profile ? json(*column.profile) : json()}};
  document["spill_bytes"] = column.spill_bytes ? json(*column.spill_bytes) : json();
  return document;
}

json kernel_json(const ProfiledKernel& kernel) {
  json document = tasks::evaluation_json(kernel.evaluation);
  document.erase("profile"); // the output has the profile by shape, beside the times
  document["file"] = to_valid_utf8(kernel.file);
  document["variant_digest"] = kernel.digest;
  return document;
}

} // namespace

std::string profile_text(const ProfileReport& report) {
  if (const ProfiledKernel* culprit = not_correct(report)) {
    return fmt::format("no profile: {} {}\n\n", store::on_one_line(culprit->file),
                       why_not_measured(culprit->evaluation)) +
           eval_text(culprit->evaluation);
  }
  const Evaluation& evaluation = report.kernel.evaluation;
  const std::vector<ShapeColumns> shapes = columns_of(report);
  std::string text = tables(shapes);
  for (const ShapeColumns& shape : shapes) {
    text += shape_lines(shape);
  }
  text += libraries_text(shapes) + methods_text(shapes) + reasons_text(shapes) + "\n";
  text += kernel_lines(kKernel, report.kernel);
  if (report.against) {
    text += kernel_lines(kAgainst, *report.against);
    text += evaluation.race
                ? race_sentence(*evaluation.race, timed_shapes(evaluation), "kernel", "against") +
                      "; verdict: " + evaluation.race->verdict + "\n"
                : "the kernels were not timed beside each other\n";
  }
  return text + circumstances_text(evaluation, evaluation.seconds);
}

json profile_json(const ProfileReport& report) {
  const Evaluation& evaluation = report.kernel.evaluation;
  json document{{"schema", "winnow.profile"},
                {"version", 2},
                {"task", report.task},
                {"device", evaluation.device},
                {"device_name", evaluation.device_name},
                {"kernel", kernel_json(report.kernel)},
                {"against", report.against ? kernel_json(*report.against) : json()},
                {"race", evaluation.race ? json(*evaluation.race) : json()},
                {"shapes", json::array()}};
  if (not_correct(report) != nullptr) {
    return document;
  }
  const std::vector<TimedShape> timed = timed_shapes(evaluation);
  const std::vector<ShapeColumns> shapes = columns_of(report);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::vector<ProfileColumn>& columns = shapes[i].columns;
    document["shapes"].push_back(
        {{"shape_id", columns[0].timed.shape_id},
         {"shape", shapes[i].shape},
         {"kernel", column_json(columns[0])},
         {"against", columns.size() == 2 ? column_json(columns[1]) : json()},
         {"ratio", measured_json(timed[i].ratio)},
         {"ratio_low", low_json(timed[i].ratio_bounds)},
         {"ratio_high", high_json(timed[i].ratio_bounds)}});
  }
  return document;
}

} // namespace winnow::harness
