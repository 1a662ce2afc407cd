#include "base/text.h"
#include "harness/report/eval_report.h"
#include "harness/report/json_table.h"
#include "harness/report/kernel_pair_report.h"
#include "harness/report/timed_shapes.h"
#include "store/candidate_record.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr const char* kRatioNote = "B / A: the mean over blocks of four launches in turns, not the "
                                   "quotient of the two medians; the "
                                   "ratio of the race is the geometric mean over the shapes";

std::string shapes_table(const json& shapes) {
  const auto time = [](const json& value) { return time_text(number_at(value, "")); };
  const auto interval = [](const char* name) {
    return [name](const json& shape) { return time_interval_text(bounds_at(shape, name, "_ns")); };
  };
  const auto ratio = [](const json& value) { return ratio_text(number_at(value, "")); };
  const auto ratio_interval = [](const json& shape) {
    return ratio_interval_text(bounds_at(shape, "ratio"));
  };
  const auto count = [](const json& samples) { return std::to_string(samples.size()); };
  return to_aligned_text(
      json_table(shapes, {{{"shape"}, "shape"},
                          {{"A median", true}, "a_median_ns", time},
                          {{"A's 95 % interval", true, true}, "", interval("a_median")},
                          {{"B median", true}, "b_median_ns", time},
                          {{"B's 95 % interval", true, true}, "", interval("b_median")},
                          {{"B / A", true}, "ratio", ratio},
                          {{"99 % interval", true}, "", ratio_interval},
                          {{"launches", true}, "a_samples_ns", count}}),
      0);
}

std::string verdict_line(const std::string& verdict) {
  if (verdict == "tie") {
    return "verdict: tie (the same within the noise)\n";
  }
  if (verdict == "undecided") {
    return "verdict: undecided (the same within the noise of these launches; a larger "
           "--time-budget or --max-samples may tell the kernels apart)\n";
  }
  if (verdict == "not shown to be faster") {
    return "verdict: A is not shown to be faster (the race was given up, because more launches "
           "would "
           "hardly show it; to ask whether B is faster, race B against A)\n";
  }
  return "verdict: A is " + verdict + "\n";
}

std::string racer_line(const char* name, const json& racer) {
  const std::string parameters = parameters_at(racer);
  return fmt::format("{}: {}{}{}\n", name, on_one_line(text_at(racer, "file")),
                     parameters.empty() ? "" : ", ", parameters);
}

json racer_json(const JudgedKernel& racer, const std::string& versus) {
  const tasks::Evaluation& evaluation = racer.evaluation;
  json document{{"file", to_valid_utf8(racer.file)},
                {"variant_digest", racer.digest},
                {"parameters", evaluation.parameters},
                {"verdict", to_string(evaluation.verdict)},
                {"seed", evaluation.seed == 0 ? json() : json(std::to_string(evaluation.seed))},
                {"detail", to_valid_utf8(evaluation.detail)}};
  put_measured(document, "speedup", "", evaluation.speedup, evaluation.speedup_bounds);
  store::put_versus(document, versus);
  return document;
}

json shape_json(const TimedShape& shape) {
  const tasks::CaseResult& a = shape.timed;
  const tasks::CaseResult b = shape.rival.value_or(tasks::CaseResult{});
  json document{{"shape_id", a.shape_id},
                {"shape", a.shape},
                {"a_samples_ns", a.samples_ns},
                {"b_samples_ns", b.samples_ns},
                {"conditions", a.conditions}};
  put_measured(document, "a_median", "_ns", a.median_ns, a.median_bounds_ns);
  put_measured(document, "b_median", "_ns", b.median_ns, b.median_bounds_ns);
  put_measured(document, "ratio", "", shape.ratio, shape.ratio_bounds);
  return document;
}

/// The evaluation because of which there is no race; null if both kernels are correct.
json not_correct(const KernelPair& pair) {
  for (const JudgedKernel* racer : {&*pair.against, &pair.kernel}) {
    if (racer->evaluation.verdict != tasks::Verdict::Correct) {
      return tasks::evaluation_json(racer->evaluation);
    }
  }
  return nullptr;
}

} // namespace

json race_json(const KernelPair& pair) {
  const tasks::Evaluation& a = pair.kernel.evaluation;
  const tasks::Evaluation& b = pair.against->evaluation;
  json document{{"schema", "winnow.race"},
                {"version", 2},
                {"task", pair.task},
                {"a", racer_json(pair.kernel, pair.speedup_versus)},
                {"b", racer_json(*pair.against, pair.speedup_versus)},
                {"not_correct", not_correct(pair)},
                {"suspended", a.suspended ? json(to_valid_utf8(a.suspended->why)) : json()},
                {"device", b.device},
                {"device_name", b.device_name},
                {"isolation", b.isolation},
                {"unranked", a.unranked},
                {"seconds", a.seconds + b.seconds},
                {"verdict", nullptr},
                {"confidence", 0.99},
                {"blocks", nullptr},
                {"faster_shapes", nullptr},
                {"shapes", json::array()}};
  const bool raced = document["not_correct"].is_null() && a.race.has_value();
  const tasks::RaceResult race = raced ? *a.race : tasks::RaceResult{};
  put_measured(document, "ratio", "", race.ratio.value_or(0), race.bounds);
  const std::vector<TimedShape> shapes =
      raced ? timed_shapes(a, pair.speedup_versus) : std::vector<TimedShape>{};
  put_speedup_beside(document["b"], shapes);
  if (!raced) {
    return document;
  }
  for (const TimedShape& shape : shapes) {
    document["shapes"].push_back(shape_json(shape));
  }
  document["verdict"] = race.verdict;
  document["blocks"] = race.blocks;
  document["faster_shapes"] = faster_shapes(document["shapes"]);
  return document;
}

std::string race_text(const json& document) {
  const std::string legend = racer_line("A", document.at("a")) + racer_line("B", document.at("b"));
  const json& culprit = document.at("not_correct");
  if (!culprit.is_null()) {
    const bool both = document.at("b").at("verdict") == "correct";
    return fmt::format("no race: {} {}\n\n", both ? "A" : "B", why_not_measured(culprit)) + legend +
           "\n" + eval_text(culprit);
  }
  if (document.at("verdict").is_null()) {
    const json& suspended = document.at("suspended");
    return wrap_lines("no race: " +
                          (suspended.is_null() ? "the kernels were not timed beside each other"
                                               : "B is correct alone, but not beside A: " +
                                                     suspended.get<std::string>()) +
                          "\n\n" + legend,
                      table_columns(), 2);
  }
  const json& shapes = document.at("shapes");
  const double ratio = number_at(document, "ratio");
  const tasks::RaceResult race{"", text_at(document, "verdict"),
                               ratio > 0 ? std::optional(ratio) : std::nullopt,
                               bounds_at(document, "ratio"), document.at("blocks")};
  const std::string below = std::string(kRatioNote) + "\n" + verdict_line(race.verdict) + legend +
                            circumstances_text(document, document.at("a"));
  return wrap_lines(race_sentence(race, shapes, "A", "B") + "\n\n" + shapes_table(shapes) + "\n" +
                        below,
                    table_columns(), 2);
}

} // namespace winnow::harness
