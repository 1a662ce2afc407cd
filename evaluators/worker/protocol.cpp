#include "evaluators/worker/protocol.h"

#include "base/json_dump.h"
#include "tasks/json_number.h"

#include <stdexcept>

#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

using nlohmann::json;

tasks::Verdict verdict_of(const json& value) {
  const auto verdict = tasks::verdict_from_string(value.get<std::string>());
  if (!verdict) {
    throw std::invalid_argument("unknown verdict in a worker's message");
  }
  return *verdict;
}

json slice_json(const ArenaSlice& slice) {
  return {{"tensor", slice.tensor}, {"offset", slice.offset}, {"bytes", slice.bytes}};
}

ArenaSlice slice_of(const json& value) {
  return {value.at("tensor"), value.at("offset"), value.at("bytes")};
}

json sampling_json(const SamplingRequest& sampling) {
  json value{{"rivals", sampling.rivals},
             {"stop_when_lost", sampling.stop_when_lost},
             {"warm", sampling.warm},
             {"min", sampling.min_samples},
             {"max", sampling.max_samples},
             {"budget_ms", sampling.budget.count()},
             {"overdraft", sampling.overdraft},
             {"places", sampling.places},
             {"judged", sampling.judged},
             {"least_baseline_ns", sampling.least_baseline_ns},
             {"areas", sampling.areas},
             {"area_bytes", sampling.area_bytes},
             {"all_judged", sampling.all_judged}};
  return value;
}

SamplingRequest sampling_of(const json& value) {
  SamplingRequest sampling;
  for (const json& rival : value.at("rivals")) {
    sampling.rivals.push_back(rival.get<tasks::ResolvedPlan>());
  }
  sampling.stop_when_lost = value.at("stop_when_lost");
  sampling.warm = value.at("warm");
  sampling.min_samples = value.at("min");
  sampling.max_samples = value.at("max");
  sampling.budget = std::chrono::milliseconds(value.at("budget_ms").get<std::int64_t>());
  sampling.overdraft = value.at("overdraft");
  sampling.places = value.at("places");
  sampling.judged = value.at("judged");
  sampling.least_baseline_ns = value.at("least_baseline_ns");
  sampling.areas = value.at("areas");
  sampling.area_bytes = value.at("area_bytes");
  sampling.all_judged = value.at("all_judged");
  return sampling;
}

json case_json(const RunCase& run_case) {
  json value{{"plan", run_case.plan},
             {"seed", run_case.seed},
             {"salt", run_case.salt},
             {"repeat", run_case.repeat}};
  for (const ArenaSlice& slice : run_case.outputs) {
    value["outputs"].push_back(slice_json(slice));
  }
  for (const ArenaSlice& slice : run_case.inputs) {
    value["inputs"].push_back(slice_json(slice));
  }
  if (run_case.sampling) {
    value["sampling"] = sampling_json(*run_case.sampling);
  }
  if (run_case.counters) {
    value["full_counters"] = *run_case.counters == profiling::CounterSet::Full;
    value["energy"] = run_case.energy;
  }
  return value;
}

RunCase case_of(const json& value) {
  RunCase run_case;
  run_case.plan = value.at("plan").get<tasks::ResolvedPlan>();
  run_case.seed = value.at("seed");
  run_case.salt = value.at("salt");
  run_case.repeat = value.at("repeat");
  for (const json& slice : value.value("outputs", json::array())) {
    run_case.outputs.push_back(slice_of(slice));
  }
  for (const json& slice : value.value("inputs", json::array())) {
    run_case.inputs.push_back(slice_of(slice));
  }
  if (value.contains("sampling")) {
    run_case.sampling = sampling_of(value.at("sampling"));
  }
  if (value.contains("full_counters")) {
    run_case.counters = value.at("full_counters").get<bool>() ? profiling::CounterSet::Full
                                                              : profiling::CounterSet::Fast;
    run_case.energy = value.at("energy");
  }
  return run_case;
}

std::string line(const json& value) {
  return json_line(value) + "\n";
}

} // namespace

std::string encode(const RunRequest& request) {
  json value{{"module", request.module.string()},
             {"workers", request.workers},
             {"deadline_ms", request.deadline.count()},
             {"rivals", json::array()},
             {"cases", json::array()}};
  for (const std::filesystem::path& rival : request.rivals) {
    value["rivals"].push_back(rival.string());
  }
  for (const RunCase& run_case : request.cases) {
    value["cases"].push_back(case_json(run_case));
  }
  return line(value);
}

RunRequest decode_run_request(const std::string& text) {
  const json value = json::parse(text);
  RunRequest request;
  request.module = value.at("module").get<std::string>();
  request.workers = value.at("workers");
  request.deadline = std::chrono::milliseconds(value.at("deadline_ms").get<std::int64_t>());
  for (const json& rival : value.at("rivals")) {
    request.rivals.emplace_back(rival.get<std::string>());
  }
  for (const json& run_case : value.at("cases")) {
    request.cases.push_back(case_of(run_case));
  }
  return request;
}

std::string encode(const RunCaseReport& report) {
  json value{{"case", report.index},
             {"samples_ns", report.samples_ns},
             {"rival_samples_ns", report.rival_samples_ns},
             {"warm_samples_ns", report.warm_samples_ns},
             {"clocks_mhz", report.clocks_mhz},
             {"warm_ups", report.warm_ups},
             {"discarded", report.discarded},
             {"stopped_by", report.stopped_by},
             {"state", report.state},
             {"prepare_ns", report.prepare_ns},
             {"differing", report.differing},
             {"timed_outputs", json::array()},
             {"printed", report.printed}};
  for (const TimedOutput& output : report.timed_outputs) {
    value["timed_outputs"].push_back({{"contestant", output.contestant},
                                      {"launch", output.launch},
                                      {"area", output.area},
                                      {"salt", output.salt},
                                      {"draw", output.draw}});
  }
  if (report.fault) {
    value["fault"] = {{"verdict", to_string(report.fault->verdict)},
                      {"detail", report.fault->detail}};
  }
  if (report.rival) {
    value["rival"] = *report.rival;
  }
  if (report.counters) {
    value["counters"] = *report.counters;
  }
  if (report.energy) {
    value["energy"] = *report.energy;
  }
  return line(value);
}

std::string encode_findings(const std::vector<CheckFinding>& findings) {
  json list = json::array();
  for (const CheckFinding& finding : findings) {
    list.push_back({{"verdict", to_string(finding.verdict)},
                    {"detail", finding.detail},
                    {"certain", finding.certain}});
  }
  return line({{"findings", list}});
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

namespace {

void read_timing(RunCaseReport& report, const json& value) {
  value.at("samples_ns").get_to(report.samples_ns);
  value.at("rival_samples_ns").get_to(report.rival_samples_ns);
  value.at("warm_samples_ns").get_to(report.warm_samples_ns);
  value.at("clocks_mhz").get_to(report.clocks_mhz);
  report.warm_ups = value.at("warm_ups");
  report.discarded = value.at("discarded");
  report.stopped_by = value.at("stopped_by");
  report.prepare_ns = value.at("prepare_ns");
  report.state = value.at("state").get<profiling::GpuState>();
}

void read_profile(RunCaseReport& report, const json& value) {
  if (value.contains("counters")) {
    report.counters = value.at("counters").get<profiling::CounterReport>();
  }
  if (value.contains("energy")) {
    report.energy = value.at("energy").get<profiling::Energy>();
  }
}

} // namespace

bool add_line(RunReport& report, const std::string& text) {
  try {
    const json value = json::parse(text);
    if (value.contains("end")) {
      report.complete = true;
    } else if (value.contains("findings")) {
      for (const json& finding : value.at("findings")) {
        report.findings.push_back(
            {verdict_of(finding.at("verdict")), finding.at("detail"), finding.at("certain")});
      }
    } else {
      RunCaseReport run_case;
      run_case.index = value.at("case");
      read_timing(run_case, value);
      read_profile(run_case, value);
      run_case.printed = value.at("printed");
      run_case.differing = value.at("differing");
      for (const json& output : value.at("timed_outputs")) {
        run_case.timed_outputs.push_back({output.at("contestant"), output.at("launch"),
                                          output.at("area"), output.at("salt"), output.at("draw")});
      }
      if (value.contains("fault")) {
        run_case.fault = DeviceFault{verdict_of(value.at("fault").at("verdict")),
                                     value.at("fault").at("detail")};
      }
      if (value.contains("rival")) {
        run_case.rival = value.at("rival").get<std::size_t>();
      }
      report.cases.push_back(std::move(run_case));
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

namespace {

json model_json(const ErrorModel& model) {
  return {{"accumulate", to_string(model.accumulate)},
          {"multiple", model.multiple},
          {"norm_multiple", model.norm_multiple},
          {"absolute", model.absolute},
          {"nan", model.nan_allowed}};
}

ErrorModel model_of(const json& value) {
  const auto accumulate =
      tasks::precision_from_string(value.at("accumulate").get<std::string>()).value();
  return {accumulate, value.at("multiple"), value.at("norm_multiple"), value.at("absolute"),
          value.at("nan")};
}

} // namespace

std::string encode(const JudgeRequest& request) {
  json tensors = json::array();
  for (const JudgedTensor& tensor : request.tensors) {
    json pieces = json::array();
    for (const Piece& piece : tensor.pieces) {
      pieces.push_back({piece.first, piece.count});
    }
    tensors.push_back({{"slice", slice_json(tensor.slice)},
                       {"pieces", pieces},
                       {"dtype", to_string(tensor.dtype)},
                       {"shape", tensor.shape}});
  }
  return line({{"shape", request.shape},
               {"module", request.module.string()},
               {"plan", request.plan},
               {"seed", request.seed},
               {"static_seed", request.static_seed},
               {"salt", request.salt},
               {"model", model_json(request.model)},
               {"tensors", tensors}});
}

JudgeRequest decode_judge_request(const std::string& text) {
  const json value = json::parse(text);
  JudgeRequest request;
  request.shape = value.at("shape");
  request.module = value.at("module").get<std::string>();
  request.plan = value.at("plan").get<tasks::ResolvedPlan>();
  request.seed = value.at("seed");
  request.static_seed = value.at("static_seed");
  request.salt = value.at("salt");
  request.model = model_of(value.at("model"));
  for (const json& tensor : value.at("tensors")) {
    JudgedTensor& added = request.tensors.emplace_back();
    added.slice = slice_of(tensor.at("slice"));
    for (const json& piece : tensor.at("pieces")) {
      added.pieces.push_back({piece.at(0), piece.at(1)});
    }
    added.dtype = tasks::dtype_from_string(tensor.at("dtype").get<std::string>()).value();
    tensor.at("shape").get_to(added.shape);
  }
  return request;
}

std::string encode(const JudgeReply& reply) {
  json value{{"verdict", to_string(reply.verdict)},
             {"detail", reply.detail},
             {"max_error_ratio", tasks::number_json(reply.max_error_ratio)}};
  if (reply.mismatch) {
    value["mismatch"] = *reply.mismatch;
  }
  return line(value);
}

JudgeReply decode_judge_reply(const std::string& text) {
  const json value = json::parse(text);
  JudgeReply reply;
  reply.verdict = verdict_of(value.at("verdict"));
  reply.detail = value.at("detail");
  reply.max_error_ratio = tasks::number_of(value.at("max_error_ratio"));
  if (value.contains("mismatch")) {
    reply.mismatch = value.at("mismatch").get<tasks::Mismatch>();
  }
  return reply;
}

} // namespace winnow::evaluators
