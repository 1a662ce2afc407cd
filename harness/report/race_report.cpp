#include "harness/report/race_report.h"

#include "base/text.h"
#include "harness/report/eval_report.h"
#include "harness/report/timed_shapes.h"
#include "store/text_table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using tasks::Verdict;

std::string shapes_table(const std::vector<TimedShape>& shapes) {
  store::TextTable table;
  table.columns = {{"shape"},
                   {"A median", true},
                   {"A's 95 % interval", true, true},
                   {"B median", true},
                   {"B's 95 % interval", true, true},
                   {"B / A", true},
                   {"95 % interval", true},
                   {"launches", true}};
  for (const TimedShape& shape : shapes) {
    const tasks::CaseResult& timed = *shape.timed;
    table.rows.push_back(
        {timed.shape, time_text(timed.median_ns), time_interval_text(timed.median_bounds_ns),
         time_text(shape.rival_median_ns), time_interval_text(shape.rival_bounds_ns),
         ratio_text(shape.ratio), ratio_interval_text(shape.ratio_bounds),
         std::to_string(timed.samples_ns.size())});
  }
  return to_aligned_text(table, 0);
}

std::string verdict_line(const std::string& verdict) {
  if (verdict == "tie") {
    return "verdict: tie (the same within the noise)\n";
  }
  if (verdict == "undecided") {
    return "verdict: undecided (the same within the noise of these launches; a larger "
           "--time-budget or --max-samples may tell them apart)\n";
  }
  return "verdict: A is " + verdict + "\n";
}

std::string racer_line(const char* name, const Racer& racer) {
  const std::string parameters = racer.evaluation.parameters.empty()
                                     ? ""
                                     : ", " + tasks::parameters_text(racer.evaluation.parameters);
  return fmt::format("{}: {}{}\n", name, store::on_one_line(racer.file), parameters);
}

json racer_json(const Racer& racer) {
  const tasks::Evaluation& evaluation = racer.evaluation;
  return {{"file", to_valid_utf8(racer.file)},
          {"variant_digest", racer.digest},
          {"parameters", evaluation.parameters},
          {"verdict", to_string(evaluation.verdict)},
          {"seed", evaluation.seed == 0 ? json() : json(std::to_string(evaluation.seed))},
          {"detail", to_valid_utf8(evaluation.detail)},
          {"speedup", measured_json(evaluation.speedup)},
          {"speedup_low", low_json(evaluation.speedup_bounds)},
          {"speedup_high", high_json(evaluation.speedup_bounds)}};
}

json shape_json(const TimedShape& shape) {
  const tasks::CaseResult& timed = *shape.timed;
  return {{"shape_id", timed.shape_id},
          {"shape", timed.shape},
          {"a_median_ns", measured_json(timed.median_ns)},
          {"a_median_low_ns", low_json(timed.median_bounds_ns)},
          {"a_median_high_ns", high_json(timed.median_bounds_ns)},
          {"a_samples_ns", timed.samples_ns},
          {"b_median_ns", measured_json(shape.rival_median_ns)},
          {"b_median_low_ns", low_json(shape.rival_bounds_ns)},
          {"b_median_high_ns", high_json(shape.rival_bounds_ns)},
          {"b_samples_ns", timed.incumbent_samples_ns},
          {"ratio", measured_json(shape.ratio)},
          {"ratio_low", low_json(shape.ratio_bounds)},
          {"ratio_high", high_json(shape.ratio_bounds)},
          {"conditions", timed.conditions}};
}

/// The kernel because of which there is no race; nullptr if both are correct.
const Racer* not_correct(const RaceReport& report) {
  if (report.b.evaluation.verdict != Verdict::Correct) {
    return &report.b;
  }
  return report.a.evaluation.verdict != Verdict::Correct ? &report.a : nullptr;
}

} // namespace

std::string race_text(const RaceReport& report) {
  if (const Racer* culprit = not_correct(report)) {
    return fmt::format("no race: {} {}\n\n", culprit == &report.a ? "A" : "B",
                       why_not_measured(culprit->evaluation)) +
           racer_line("A", report.a) + racer_line("B", report.b) + "\n" +
           eval_text(culprit->evaluation);
  }
  const tasks::Evaluation& evaluation = report.a.evaluation;
  const std::string legend = racer_line("A", report.a) + racer_line("B", report.b);
  if (!evaluation.race) {
    return "no race: the kernels were not timed beside each other\n\n" + legend;
  }
  const std::vector<TimedShape> shapes = timed_shapes(evaluation);
  return race_sentence(*evaluation.race, shapes, "A", "B") + "\n\n" + shapes_table(shapes) + "\n" +
         verdict_line(evaluation.race->verdict) + legend +
         circumstances_text(evaluation, evaluation.seconds + report.b.evaluation.seconds);
}

json race_json(const RaceReport& report) {
  const tasks::Evaluation& evaluation = report.a.evaluation;
  const bool raced = not_correct(report) == nullptr && evaluation.race.has_value();
  json document{{"schema", "winnow.race"},
                {"version", 2},
                {"task", report.task},
                {"a", racer_json(report.a)},
                {"b", racer_json(report.b)},
                {"device", report.b.evaluation.device},
                {"device_name", report.b.evaluation.device_name},
                {"isolation", report.b.evaluation.isolation},
                {"verdict", nullptr},
                {"ratio", nullptr},
                {"ratio_low", nullptr},
                {"ratio_high", nullptr},
                {"confidence", 0.99},
                {"blocks", nullptr},
                {"faster_shapes", nullptr},
                {"shapes", json::array()}};
  if (!raced) {
    return document;
  }
  const std::vector<TimedShape> shapes = timed_shapes(evaluation);
  document["verdict"] = evaluation.race->verdict;
  document["ratio"] = measured_json(evaluation.race->ratio);
  document["ratio_low"] = low_json(evaluation.race->bounds);
  document["ratio_high"] = high_json(evaluation.race->bounds);
  document["blocks"] = evaluation.race->blocks;
  document["faster_shapes"] = faster_shapes(shapes);
  for (const TimedShape& shape : shapes) {
    document["shapes"].push_back(shape_json(shape));
  }
  return document;
}

} // namespace winnow::harness
