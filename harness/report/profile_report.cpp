#include "base/text.h"
#include "evaluators/evaluation/profile.h"
#include "harness/report/counted.h"
#include "harness/report/eval_report.h"
#include "harness/report/json_table.h"
#include "harness/report/kernel_pair_report.h"
#include "harness/report/profile_table.h"
#include "harness/report/timed_shapes.h"
#include "profiling/counters/counter_names.h"
#include "store/candidate_record.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using tasks::CaseResult;
using tasks::Evaluation;

constexpr std::size_t kFindings = 2; ///< findings per shape: the limiter and the next one
constexpr const char* kKernel = "kernel";
constexpr const char* kAgainst = "against";

/// The profile of a kernel at a shape, as JSON; null if it was not profiled.
json profile_at(const Evaluation& evaluation, const std::string& shape_id) {
  for (const evaluators::ProfiledShape& profile : evaluators::profile_of(evaluation)) {
    if (profile.shape_id == shape_id) {
      return profile;
    }
  }
  return nullptr;
}

/// Of the kernel that the profile is about.
json spill_bytes(const Evaluation& evaluation, const json& profile) {
  for (const tasks::KernelResources& kernel : evaluation.build.kernels) {
    if (kernel.kernel == value_at(profile, "launch/kernel")) {
      return static_cast<double>(kernel.spill_store_bytes + kernel.spill_load_bytes);
    }
  }
  return nullptr;
}

/// `timed`: the times of the kernel that `evaluation` is about, in the session of the first kernel.
json column_json(const Evaluation& evaluation, const CaseResult& timed, const std::string& versus) {
  const json profile = profile_at(evaluation, timed.shape_id);
  json document{{"warm_median_ns", nullptr},
                {"baseline_median_ns", measured_json(timed.baseline_median_ns)},
                {"launches_timed", timed.samples_ns.size()},
                {"conditions", timed.conditions},
                {"spill_bytes", spill_bytes(evaluation, profile)},
                {"profile", profile}};
  put_measured(document, "median", "_ns", timed.median_ns, timed.median_bounds_ns);
  put_measured(document, "speedup", "", timed.speedup, timed.speedup_bounds);
  store::put_versus(document, versus);
  for (const CaseResult& own : evaluation.cases) {
    if (own.stage == tasks::Stage::Time && own.shape_id == timed.shape_id) {
      document["warm_median_ns"] = measured_json(tasks::median(own.warm_samples_ns));
    }
  }
  return document;
}

json kernel_json(const JudgedKernel& kernel, const std::string& versus) {
  json document = tasks::evaluation_json(kernel.evaluation);
  document.erase("profile"); // the output has the profile by shape, beside the times
  document["file"] = to_valid_utf8(kernel.file);
  document["variant_digest"] = kernel.digest;
  store::put_versus(document, versus);
  return document;
}

json shape_json(const KernelPair& pair, const TimedShape& shape) {
  const bool compared = pair.against && shape.rival;
  json document{
      {"shape_id", shape.timed.shape_id},
      {"shape", shape.timed.shape},
      {kKernel, column_json(pair.kernel.evaluation, shape.timed, pair.speedup_versus)},
      {kAgainst, compared ? column_json(pair.against->evaluation, *shape.rival, pair.speedup_versus)
                          : json()}};
  put_measured(document, "ratio", "", shape.ratio, shape.ratio_bounds);
  return document;
}

/// The kernel because of which there is no profile; nullptr if there is one.
const json* not_correct(const json& document) {
  for (const char* name : {kAgainst, kKernel}) {
    const json& kernel = document.at(name);
    if (!kernel.is_null() && kernel.at("verdict") != "correct") {
      return &kernel;
    }
  }
  return nullptr;
}

/// The kernels of a shape: one, or two that are compared.
std::vector<ProfileColumn> columns_of(const json& shape) {
  std::vector<ProfileColumn> columns{{kKernel, shape.at(kKernel)}};
  if (!shape.at(kAgainst).is_null()) {
    columns.emplace_back(kAgainst, shape.at(kAgainst));
  }
  return columns;
}

std::string tables(const json& shapes) {
  std::string text;
  std::vector<ProfileColumn> alone;
  for (const json& shape : shapes) {
    const std::vector<ProfileColumn> columns = columns_of(shape);
    if (columns.size() == 2) {
      text += profile_table(shape.at("shape"), columns, true) + "\n";
    } else {
      alone.emplace_back(shape.at("shape"), columns.front().second);
    }
  }
  return alone.empty() ? text : profile_table("shape", alone, false) + "\n" + text;
}

/// Lines below the table: the evidence for each limiter, and the speed of light.
std::string profile_lines(const std::string& who, const json& profile) {
  std::string text;
  const json& limiters = profile.at("limiters");
  for (std::size_t i = 0; i < std::min(kFindings, limiters.size()); ++i) {
    text +=
        fmt::format("{}: {}: {}: {}\n", who, i == 0 ? "limiter" : "next",
                    text_at(limiters[i], "limiter"), on_one_line(text_at(limiters[i], "because")));
  }
  if (const auto steps = profile.value("steps", std::vector<evaluators::StepTime>{});
      !steps.empty()) {
    text += fmt::format(
        "{}: steps, each by itself with warm caches: {}\n", who,
        join(each<std::string>(steps, [](const auto& step) { return on_one_line(to_text(step)); }),
             ", "));
  }
  if (!profile.at("speed_of_light").is_null()) {
    const auto speed = profile.at("speed_of_light").get<profiling::SpeedOfLight>();
    text += fmt::format("{}: {}: {}{}{}\n", who, share_text(speed), least_time_text(speed),
                        speed.note.empty() ? "" : "; ", speed.note);
  }
  return text;
}

std::string shape_lines(const json& shape) {
  std::string text;
  const std::vector<ProfileColumn> columns = columns_of(shape);
  for (const auto& [name, column] : columns) {
    if (const json& profile = column.at("profile"); !profile.is_null()) {
      const std::string who = shape.at("shape");
      text += profile_lines(columns.size() == 2 ? who + ", " + name : who, profile);
    }
  }
  return text;
}

/// Collects each reason once, with everything that it explains.
class Reasons {
public:
  void add(const std::string& reason, const std::string& what) {
    const std::string line = on_one_line(reason);
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

void add_reasons(const json& profile, Reasons& reasons) {
  const std::string unavailable = text_at(profile, "counters/unavailable");
  reasons.add(unavailable, "all counters");
  if (profile.at("speed_of_light").is_null()) {
    reasons.add(text_at(profile, "no_speed_of_light"), "speed of light");
  }
  if (value_at(profile, "energy/joules_per_launch").is_null()) {
    reasons.add(text_at(profile, "energy/reason"), "energy");
  }
  for (const auto& [key, counter] : value_at(profile, "counters/counters").items()) {
    if (counter.at("value").is_null() && unavailable.empty()) {
      const std::string reason = text_at(counter, "reason");
      reasons.add(reason.empty() ? "no reason given" : reason, counter_title(key));
    }
  }
}

std::string reasons_text(const json& shapes) {
  Reasons reasons;
  for (const json& shape : shapes) {
    for (const auto& [name, column] : columns_of(shape)) {
      if (const json& profile = column.at("profile"); !profile.is_null()) {
        add_reasons(profile, reasons);
      } else {
        reasons.add("the counters are off or could not be read: see the notes",
                    "counters, launch, limiter, speed of light, energy");
      }
    }
  }
  return reasons.text();
}

std::string methods_text(const json& shapes) {
  std::string text, counters;
  for (const json& shape : shapes) {
    const std::string method = text_at(shape, "kernel/profile/energy/method");
    if (!method.empty()) {
      text += fmt::format("{}: energy: {}\n", text_at(shape, "shape"), method);
    }
    const json& report = value_at(shape, "kernel/profile/counters");
    const auto passes = static_cast<std::int64_t>(number_at(report, "passes"));
    if (passes > 0 && counters.empty()) {
      counters =
          fmt::format("counters: {}, {} in {:.0f} ms per shape\n", text_at(report, "provider"),
                      counted(passes, "pass", "passes"), number_at(report, "collect_ms"));
    }
  }
  return text + counters;
}

std::string library_lines(const json& cases) {
  std::string text;
  for (const json& result : cases) {
    for (const json& library : value_at(result, "libraries")) {
      const double median = number_at(library, "median_ns");
      text += fmt::format("{}: {}: ", text_at(result, "shape"), text_at(library, "name"));
      text += library.at("agrees") == true && median > 0
                  ? fmt::format("{}, the kernel takes {}x as long\n", time_text(median),
                                number_text(number_at(result, "median_ns") / median))
                  : "not compared: " + on_one_line(text_at(library, "error")) + "\n";
    }
  }
  return text;
}

std::string kernel_lines(const char* name, const json& kernel) {
  const std::string parameters = parameters_at(kernel);
  std::string text =
      fmt::format("{}: {}{}{}: {}", name, on_one_line(text_at(kernel, "file")),
                  parameters.empty() ? "" : ", ", parameters, text_at(kernel, "verdict"));
  if (number_at(kernel, "speedup") > 0) {
    const std::string interval = ratio_interval_text(bounds_at(kernel, "speedup"));
    const bool eager = versus_at(kernel) == tasks::kVersusEager;
    const double alone = number_at(kernel, "alone_speedup");
    text += fmt::format(", {} {}{} ({}, geometric mean over the shapes{})",
                        ratio_text(number_at(kernel, "speedup")), rival_speed(kernel),
                        interval.empty() ? "" : ": " + interval + " (95 %)",
                        eager ? "timed in the same session, but not side by side"
                              : "the median over pairs of launches side by side",
                        alone > 0 ? "; alone, just before: " + ratio_text(alone) : "");
  }
  text += "\n";
  for (const json& note : kernel.at("notes")) {
    text += "  note: " + on_one_line(note.get<std::string>()) + "\n";
  }
  for (const json& finding : kernel.at("build").at("findings")) {
    text += fmt::format("  machine code: {}: {}\n", text_at(finding, "kind"),
                        text_at(finding, "detail"));
  }
  return text;
}

} // namespace

json profile_json(const KernelPair& pair) {
  const Evaluation& evaluation = pair.kernel.evaluation;
  json document{{"schema", "winnow.profile"},
                {"version", 2},
                {"task", pair.task},
                {"device", evaluation.device},
                {"device_name", evaluation.device_name},
                {kKernel, kernel_json(pair.kernel, pair.speedup_versus)},
                {kAgainst, pair.against ? kernel_json(*pair.against, pair.speedup_versus) : json()},
                {"race", evaluation.race ? json(*evaluation.race) : json()},
                {"shapes", json::array()}};
  const std::vector<TimedShape> shapes = not_correct(document) == nullptr
                                             ? timed_shapes(evaluation, pair.speedup_versus)
                                             : std::vector<TimedShape>{};
  for (const TimedShape& shape : shapes) {
    document["shapes"].push_back(shape_json(pair, shape));
  }
  if (pair.against) {
    put_speedup_beside(document[kAgainst], shapes);
  }
  return document;
}

std::string profile_text(const json& document) {
  if (const json* culprit = not_correct(document)) {
    return fmt::format("no profile: {} {}\n\n", on_one_line(text_at(*culprit, "file")),
                       why_not_measured(*culprit)) +
           eval_text(*culprit);
  }
  const json& kernel = document.at(kKernel);
  const json& shapes = document.at("shapes");
  std::string text = tables(shapes);
  for (const json& shape : shapes) {
    text += shape_lines(shape);
  }
  text += library_lines(kernel.at("cases")) + methods_text(shapes) + reasons_text(shapes) + "\n";
  text += kernel_lines(kKernel, kernel);
  if (!document.at(kAgainst).is_null()) {
    text += kernel_lines(kAgainst, document.at(kAgainst));
    const json& race = document.at("race");
    text += race.is_null()
                ? "the kernels were not timed beside each other\n"
                : race_sentence(race.get<tasks::RaceResult>(), shapes, kKernel, kAgainst) +
                      "; verdict: " + text_at(race, "verdict") + "\n";
  }
  return wrap_lines(text + circumstances_text(kernel, kernel), table_columns(), 2);
}

} // namespace winnow::harness
