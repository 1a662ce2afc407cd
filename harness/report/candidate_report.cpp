#include "harness/report/candidate_report.h"

#include "base/text.h"
#include "harness/report/counted.h"
#include "harness/report/eval_report.h"
#include "harness/report/json_table.h"
#include "harness/report/timed_shapes.h"
#include "store/fields.h"
#include "tasks/result/speedup.h"
#include "tasks/source/kernel_file_scan.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

json messages_json(const std::vector<store::CallMessage>& messages) {
  json list = json::array();
  for (const store::CallMessage& message : messages) {
    list.push_back({{"role", message.role}, {"text", to_valid_utf8(message.text)}});
  }
  return list;
}

json text_or_null(const std::string& text) {
  return text.empty() ? json() : json(text);
}

constexpr const char* kWhenJudged =
    "when judged (another measurement than the final, at another time):\n";

/// "label: value", or nothing without a value.
std::string fact(const char* label, const std::string& value) {
  return value.empty() ? "" : fmt::format("{}: {}\n", label, on_one_line(value));
}

std::string parents_text(const json& parents) {
  std::vector<std::string> numbers;
  for (const json& parent : parents) {
    numbers.push_back(fmt::format("@{}", parent.get<std::int64_t>()));
  }
  return join(numbers, ", ");
}

std::string tokens_text(const json& document) {
  const double read = number_at(document, "prompt_tokens");
  const double written = number_at(document, "completion_tokens");
  return read + written > 0 ? fmt::format("{:.0f} read, {:.0f} written", read, written) : "";
}

std::string final_text(const json& standing) {
  if (standing.is_null()) {
    return {};
  }
  const tasks::Bounds bounds = bounds_at(standing, "speedup");
  const std::string interval = speedup_interval_text(bounds);
  const double held_out = number_at(standing, "held_out_speedup");
  return fmt::format("rank {}, {}{}{}", text_at(standing, "rank"),
                     speedup_text(number_at(standing, "speedup"), bounds),
                     interval.empty() ? "" : " (95 %: " + interval + ")",
                     held_out > 0 ? ", held-out " + tasks::speedup_text(held_out) : "");
}

constexpr std::size_t kDateBytes = 10;
constexpr std::size_t kRacesShown = 8;

/// "race in the final: against @7: 4.948x, 4.801 to 5.101 (99 %), faster, 2026-11-20"
std::string races_text(const json& races) {
  std::string text;
  for (std::size_t i = 0; i < std::min(races.size(), kRacesShown); ++i) {
    const json& race = races[i];
    const std::string source = text_at(race, "source"), rival = text_at(race, "rival_id");
    const std::string interval = ratio_interval_text(bounds_at(race, "ratio"));
    const std::string ratio = ratio_text(number_at(race, "ratio"));
    text += fmt::format("race {}: against {}: {}{}, {}, {}\n",
                        source == "final" ? "in the final" : source,
                        rival.empty() ? "a kernel that is no candidate" : "@" + rival,
                        ratio.empty() ? "ratio not known" : ratio,
                        interval.empty() ? "" : ", " + interval + " (99 %)",
                        text_at(race, "verdict"), text_at(race, "raced_at").substr(0, kDateBytes));
  }
  return text;
}

/// "measured by winnow profile on 2026-11-29: 1.98x (95 %: 1.93-2.03), 45.20 us"
std::string measurements_text(const json& measurements) {
  std::string text;
  for (const json& measured : measurements) {
    const tasks::Bounds bounds = bounds_at(measured, "speedup");
    const std::string speedup = speedup_text(number_at(measured, "speedup"), bounds);
    const std::string interval = speedup_interval_text(bounds);
    const std::string parameters = parameters_at(measured);
    text += fmt::format(
        "measured by winnow {} on {}: {}{}, {}{}{}\n", text_at(measured, "asked_by"),
        text_at(measured, "measured_at").substr(0, kDateBytes),
        speedup.empty() ? "no speedup" : speedup,
        interval.empty() ? "" : " (95 %: " + interval + ")",
        time_text(number_at(measured, "score_ns")), parameters.empty() ? "" : ", ", parameters);
  }
  return text;
}

/// "speed of light at n=1000: 80 % of DRAM's peak (from winnow profile)"
std::string light_text(const json& document) {
  const json& measurements = document.at("measurements");
  const bool asked = std::any_of(measurements.begin(), measurements.end(),
                                 [](const json& one) { return one.at("asked_by") == "profile"; });
  std::string text;
  for (const json& shape : value_at(document, "evaluation/profile")) {
    if (const double fraction = number_at(shape, "speed_of_light/fraction"); fraction > 0) {
      text += fmt::format("speed of light at {}: {} of {} ({})\n", text_at(shape, "shape"),
                          percent_text(fraction), text_at(shape, "speed_of_light/bound"),
                          asked ? "from winnow profile" : "from when it was judged");
    }
  }
  return text;
}

/// What the session of an agent asked the judge.
std::string session_text(const json& session) {
  std::string text;
  for (const json& kernel : session) {
    text += fmt::format(
        "{}@{} {}{}", text.empty() ? "" : ", ", text_at(kernel, "candidate"),
        text_at(kernel, "verdict"),
        kernel.at("speedup").is_null() ? "" : " " + ratio_text(number_at(kernel, "speedup")));
  }
  return fact("its session judged", text);
}

} // namespace

std::string plan_text(const std::string& kernel_file) {
  const tasks::KernelFileScan scan = tasks::scan_kernel_file(kernel_file);
  if (scan.plans.size() != 1 || !scan.plans.front().closed) {
    return {};
  }
  const auto& plan = scan.plans.front();
  return std::string(
      trim(std::string_view(kernel_file).substr(plan.json_begin, plan.json_end - plan.json_begin)));
}

json candidate_json(const store::CandidateRecord& record, const CandidateParts& parts) {
  const store::CandidateRow& row = record.state.row;
  const bool asked = !row.call_key.empty();
  const auto tokens = [&](std::int64_t count) { return asked ? json(count) : json(); };
  return {{"schema", "winnow.candidate"},
          {"version", 1},
          {"candidate_id", row.id},
          {"run_id", record.run},
          {"run", record.run_name},
          {"task", row.task},
          {"task_digest", record.task_digest},
          {"task_note", record.task_note},
          {"task_proof", record.task_proof},
          {"origin", row.origin},
          {"model", text_or_null(row.model)},
          {"author", row.author},
          {"operator", text_or_null(record.op)},
          {"call_key", text_or_null(row.call_key)},
          {"parents", record.parents},
          {"created_at", row.created_at},
          {"digest", row.digest},
          {"lines", record.lines},
          {"dollars", row.dollars ? json(*row.dollars) : json()},
          {"prompt_tokens", tokens(record.prompt_tokens)},
          {"completion_tokens", tokens(record.completion_tokens)},
          {"reasoning_tokens", tokens(record.reasoning_tokens)},
          {"final", record.final
                        ? store::record_json(*record.final, {"kernel verdict detail times races",
                                                             "speedup score_ns held_out_speedup"})
                        : json()},
          {"races", store::records_json(record.races, {{}, "ratio rival_id"})},
          {"measurements",
           store::records_json(record.measurements, {{}, "speedup score_ns", "parameters"})},
          {"session", store::records_json(record.session, {"job stage", "speedup score_ns"})},
          {"source", row.text},
          {"plan", text_or_null(plan_text(row.text))},
          {"evaluation", store::evaluation_document(record.state)},
          {"messages", parts.prompt && asked ? messages_json(record.messages) : json()},
          {"reply", parts.reply && asked ? json(record.state.reply) : json()}};
}

std::string candidate_text(const json& document) {
  std::string text = fmt::format("candidate {}, file {}, {}\n", text_at(document, "candidate_id"),
                                 text_at(document, "digest").substr(0, 8),
                                 counted(document.at("lines").get<std::int64_t>(), "line"));
  text += fact("task", text_at(document, "task"));
  text += fact("its revision", text_at(document, "task_note"));
  text += fact("its proof", text_at(document, "task_proof"));
  text += fact("run", text_at(document, "run"));
  text += fact("by", text_at(document, "author"));
  text += fact("operator", text_at(document, "operator"));
  text += fact("parents", parents_text(document.at("parents")));
  text += fact("tokens", tokens_text(document));
  text += document.at("dollars").is_null()
              ? ""
              : "cost: " + dollars_text(number_at(document, "dollars")) + "\n";
  text += fact("created", text_at(document, "created_at"));
  text += session_text(document.at("session"));
  text += fact("final", final_text(document.at("final")));
  text += races_text(document.at("races")) + measurements_text(document.at("measurements")) +
          light_text(document);
  text = wrap_lines(text, table_columns(), 2) + "\n";
  const json& evaluation = document.at("evaluation");
  if (evaluation.is_null()) {
    return text + "not judged yet\n";
  }
  const bool has_final = !document.at("final").is_null();
  return text + (has_final ? kWhenJudged : "") + eval_text(evaluation);
}

std::string prompt_text(const json& document) {
  std::string text;
  for (const json& message : document.at("messages")) {
    text += fmt::format("{}---- {} ----\n{}\n", text.empty() ? "" : "\n", text_at(message, "role"),
                        text_at(message, "text"));
  }
  return text;
}

std::string samples_text(const json& document) {
  std::string text = "shape_id\tshape\tkernel\tordinal\ttime_ns\n";
  for (const json& result : value_at(document, "evaluation/cases")) {
    for (const char* kernel : {"candidate", "baseline", "incumbent", "warm"}) {
      const std::string member = kernel == std::string_view("candidate")
                                     ? "samples_ns"
                                     : kernel + std::string("_samples_ns");
      std::size_t ordinal = 0;
      for (const json& time : value_at(result, member)) {
        text += fmt::format("{}\t{}\t{}\t{}\t{}\n", text_at(result, "shape_id"),
                            text_at(result, "shape"), kernel, ordinal++, text_at(time, ""));
      }
    }
  }
  return text;
}

} // namespace winnow::harness
