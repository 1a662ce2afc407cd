#include "evaluators/messages/protocol.h"

#include "base/json_dump.h"
#include "base/text.h"
#include "tasks/result/evaluation_codec.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace winnow::tasks {

template <> inline constexpr EnumRange kEnumRange<Precision>{Precision::F64, Precision::Int};
template <>
inline constexpr EnumRange kEnumRange<profiling::CounterSet>{profiling::CounterSet::Fast,
                                                             profiling::CounterSet::Full};

/// Types that reports print in a JSON form of their own.
template <typename T> struct ReportForm {
  static void append(std::string& out, const T& value) { append_tree(out, value); }
  static void read(const nlohmann::json& json, const std::string& /*path*/, T& value) {
    json.get_to(value);
  }
};
template <> struct JsonForm<profiling::GpuState> : ReportForm<profiling::GpuState> {};
template <> struct JsonForm<profiling::CounterReport> : ReportForm<profiling::CounterReport> {};
template <> struct JsonForm<profiling::Energy> : ReportForm<profiling::Energy> {};

} // namespace winnow::tasks

namespace winnow::evaluators {

using nlohmann::json;

WINNOW_FIELDS(ArenaSlice, tensor, offset, bytes)
WINNOW_FIELDS(SamplingRequest, rivals, has_baseline, all_judged, stop_when_lost, warm, min_samples,
              max_samples, budget, overdraft, places, judged, incumbent_judged, least_baseline_ns,
              areas, area_bytes)
WINNOW_FIELDS(RunCase, plan, seed, salt, outputs, inputs, computed, shape, sampling, counters,
              energy, repeat)
WINNOW_FIELDS(InputsNeeded, index, seed)
WINNOW_FIELDS(RunRequest, module, rivals, workers, deadline, cases)
WINNOW_FIELDS(TimedOutput, contestant, launch, area, salt, draw)
WINNOW_FIELDS(DeviceFault, verdict, detail)
WINNOW_FIELDS(CheckFinding, verdict, detail, certain)
WINNOW_FIELDS(RunCaseReport, index, fault, rival, samples_ns, rival_samples_ns, warm_samples_ns,
              clocks_mhz, warm_ups, discarded, stopped_by, state, counters, step_ns, energy,
              prepare_ns, differing, timed_outputs, printed)
WINNOW_FIELDS(Piece, first, count)
WINNOW_FIELDS(ErrorModel, accumulate, multiple, norm_multiple, absolute, nan_allowed)
WINNOW_FIELDS(JudgedTensor, slice, pieces, dtype, shape)
WINNOW_FIELDS(JudgeRequest, shape, module, plan, seed, static_seed, salt, model, tensors, explain,
              inputs, answers, question, inputs_question)
WINNOW_FIELDS(ErrorRatios, element, norm)
WINNOW_FIELDS(JudgeReply, verdict, detail, mismatch, ratios)

namespace {

std::string line(const json& value) {
  return json_line(value) + "\n";
}

/// `bytes_of_plans`: of their texts, which are most of a message.
template <typename T> std::string line_of(const T& message, std::size_t bytes_of_plans = 0) {
  constexpr std::size_t kBesides = 2048;
  std::string out;
  out.reserve(bytes_of_plans + kBesides);
  tasks::append_json(out, message);
  return out += '\n';
}

/// {"key": message}
template <typename T> std::string keyed_line(std::string_view key, const T& message) {
  std::string out = "{\"" + std::string(key) + "\":";
  tasks::append_json(out, message);
  return out += "}\n";
}

// Most reports and replies of a correct kernel say one or two numbers. They have a short form,
// because a tree of values for each of them took an eighth of the coordinator's time.
constexpr std::string_view kRan = "{\"ran\":\"";         // {"ran":"INDEX"}
constexpr std::string_view kCorrect = "{\"correct\":\""; // {"correct":"ELEMENT NORM"}
constexpr std::string_view kShortEnd = "\"}";

/// The numbers of a short form; nullopt: `text` has another form.
template <typename Number, std::size_t kCount>
std::optional<std::array<Number, kCount>> short_numbers(std::string_view text,
                                                        std::string_view start) {
  text = trim(text);
  if (!text.starts_with(start) || !text.ends_with(kShortEnd)) {
    return std::nullopt;
  }
  const char* at = text.data() + start.size();
  const char* end = text.data() + text.size() - kShortEnd.size();
  std::array<Number, kCount> numbers{};
  for (Number& number : numbers) {
    at += &number != numbers.data() && at < end && *at == ' ' ? 1 : 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc{}) {
      return std::nullopt;
    }
    at = stop;
  }
  return at == end ? std::optional(numbers) : std::nullopt;
}

template <typename T> T decoded(const json& value, const std::string& name) {
  T message;
  tasks::read_json(value, name, message);
  return message;
}

/// Device code may print any bytes, and may write the worker's messages.
void keep_valid_text(RunCaseReport& report) {
  for (std::string* text : {&report.stopped_by, &report.differing, &report.printed}) {
    *text = to_valid_utf8(*text);
  }
  if (report.fault) {
    report.fault->detail = to_valid_utf8(report.fault->detail);
  }
}

} // namespace

std::string encode(const RunRequest& request) {
  std::size_t bytes = 0;
  for (const RunCase& run_case : request.cases) {
    bytes += run_case.plan.text().size();
    if (run_case.sampling) {
      for (const SharedPlan& rival : run_case.sampling->rivals) {
        bytes += rival.text().size();
      }
    }
  }
  return line_of(request, bytes);
}

RunRequest decode_run_request(const std::string& text) {
  return decoded<RunRequest>(json::parse(text), "request");
}

std::string encode(const RunCaseReport& report) {
  RunCaseReport plain;
  plain.index = report.index;
  return tasks::json_text(report) == tasks::json_text(plain)
             ? fmt::format("{}{}{}\n", kRan, report.index, kShortEnd)
             : keyed_line("case", report);
}

std::string encode_findings(const std::vector<CheckFinding>& findings) {
  return keyed_line("findings", findings);
}

std::string encode_end() {
  return line({{"end", true}});
}

std::string encode_ready() {
  return line({{"ready", true}});
}

bool is_ready(const std::string& text) {
  return text + "\n" == encode_ready();
}

std::string encode(const InputsNeeded& needed) {
  return keyed_line("needs", needed);
}

std::optional<InputsNeeded> decode_inputs_needed(const std::string& text) {
  if (!text.starts_with(R"({"needs")")) {
    return std::nullopt; // does not parse a long report
  }
  const json message = json::parse(text, nullptr, false);
  if (!message.is_object() || !message.contains("needs")) {
    return std::nullopt;
  }
  try {
    return decoded<InputsNeeded>(message["needs"], "needs");
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

bool add_line(RunReport& report, const std::string& text) {
  if (const auto index = short_numbers<std::size_t, 1>(text, kRan)) {
    report.cases.emplace_back().index = index->front();
    return true;
  }
  try {
    const json value = json::parse(text);
    if (value.contains("end")) {
      report.complete = true;
    } else if (value.contains("findings")) {
      for (auto& finding : decoded<std::vector<CheckFinding>>(value["findings"], "findings")) {
        report.findings.push_back(
            {finding.verdict, to_valid_utf8(finding.detail), finding.certain});
      }
    } else {
      report.cases.push_back(decoded<RunCaseReport>(value.at("case"), "case"));
      keep_valid_text(report.cases.back());
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

std::string encode(const JudgeRequest& request) {
  return line_of(request, request.plan.text().size());
}

JudgeRequest decode_judge_request(const std::string& text) {
  return decoded<JudgeRequest>(json::parse(text), "request");
}

std::string encode_asks() {
  return line({{"asks", true}});
}

bool asks(const std::string& text) {
  const json message = json::parse(text, nullptr, false);
  return message.is_object() && message.contains("asks");
}

std::string encode_answered(const std::string& error) {
  return line({{"answered", error}});
}

std::string decode_answered(const std::string& text) {
  return json::parse(text).at("answered").get<std::string>();
}

std::string encode(const JudgeReply& reply) {
  const auto& [element, norm] = reply.ratios;
  const bool plain = reply.verdict == tasks::Verdict::Correct && reply.detail.empty() &&
                     !reply.mismatch && std::isfinite(element) && std::isfinite(norm);
  return plain ? fmt::format("{}{} {}{}\n", kCorrect, element, norm, kShortEnd) : line_of(reply);
}

JudgeReply decode_judge_reply(const std::string& text) {
  const auto ratios = short_numbers<double, 2>(text, kCorrect);
  if (ratios && std::isfinite((*ratios)[0]) && std::isfinite((*ratios)[1])) {
    return {tasks::Verdict::Correct, {}, {}, {(*ratios)[0], (*ratios)[1]}};
  }
  return decoded<JudgeReply>(json::parse(text), "reply");
}

} // namespace winnow::evaluators
