#include "tasks/result/evaluation.h"

#include "base/text.h"
#include "tasks/json/json_text.h"
#include "tasks/result/evaluation_codec.h"

#include <algorithm>
#include <cmath>

namespace winnow::tasks {
namespace {

using Json = nlohmann::json;

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) {
    list.push_back(number_json(value));
  }
  return list;
}

Json libraries_json(const std::vector<LibraryTiming>& libraries) {
  Json json = Json::array();
  for (const LibraryTiming& library : libraries) {
    json.push_back({{"name", library.name},
                    {"samples_ns", numbers(library.samples_ns)},
                    {"median_ns", number_json(library.median_ns)},
                    {"max_error_ratio", number_json(library.max_error_ratio)},
                    {"agrees", library.agrees},
                    {"error", to_valid_utf8(library.error)}});
  }
  return json;
}

/// null if the interval is not known.
Json bounds_json(const Bounds& bounds) {
  return bounds.known() ? Json{number_json(bounds.low), number_json(bounds.high)} : Json();
}

void put_bounds(Json& json, const std::string& low, const std::string& high, const Bounds& bounds) {
  json[low] = bounds.known() ? number_json(bounds.low) : Json();
  json[high] = bounds.known() ? number_json(bounds.high) : Json();
}

Bounds bounds_of(const Json& json) {
  return json.is_null() ? Bounds{} : Bounds{number_of(json.at(0)), number_of(json.at(1))};
}

/// The seed as text, because a JSON number is exact only up to 2^53.
Json seed_json(std::uint64_t seed) {
  return std::to_string(seed);
}

Json case_json(const CaseResult& result) {
  Json json{{"stage", to_string(result.stage)},
            {"shape_set", to_string(result.set)},
            {"verdict", to_string(result.verdict)}};
  if (is_hidden(result.set)) {
    if (result.verdict == Verdict::Correct && result.baseline_median_ns > 0) {
      json["baseline_median_ns"] = number_json(result.baseline_median_ns);
      json["speed"] = result.detail.empty() ? "counts" : result.detail;
    }
    return json;
  }
  json["shape_id"] = result.shape_id;
  json["shape"] = result.shape;
  json["seed"] = seed_json(result.seed);
  json["detail"] = to_valid_utf8(result.detail);
  json["max_error_ratio"] = number_json(result.max_error_ratio);
  json["rms_error_ratio"] = number_json(result.rms_error_ratio);
  json["mismatch"] = result.mismatch ? Json(*result.mismatch) : Json();
  json["samples_ns"] = numbers(result.samples_ns);
  json["baseline_samples_ns"] = numbers(result.baseline_samples_ns);
  json["incumbent_samples_ns"] = numbers(result.incumbent_samples_ns);
  json["warm_samples_ns"] = numbers(result.warm_samples_ns);
  put_bounds(json, "median_low_ns", "median_high_ns", result.median_bounds_ns);
  json["speedup"] = number_json(result.speedup);
  put_bounds(json, "speedup_low", "speedup_high", result.speedup_bounds);
  if (!result.samples_ns.empty()) {
    json["conditions"] = result.conditions;
  }
  json["median_ns"] = number_json(result.median_ns);
  json["baseline_median_ns"] = number_json(result.baseline_median_ns);
  json["prepare_ns"] = number_json(result.prepare_ns);
  json["libraries"] = libraries_json(result.libraries);
  return json;
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(to_valid_utf8(text));
}

} // namespace

void to_json(Json& json, const Mismatch& mismatch) {
  json = readable_json(mismatch);
}

void from_json(const Json& json, Mismatch& mismatch) {
  read_json(json, "mismatch", mismatch);
}

void to_json(Json& json, const KernelResources& resources) {
  json = readable_json(resources);
}

void from_json(const Json& json, KernelResources& resources) {
  read_json(json, "kernel", resources);
}

void to_json(Json& json, const Finding& finding) {
  json = readable_json(finding);
}

void from_json(const Json& json, Finding& finding) {
  read_json(json, "finding", finding);
}

void to_json(Json& json, const TimingConditions& conditions) {
  json = readable_json(conditions);
}

void from_json(const Json& json, TimingConditions& conditions) {
  json.at("warm_ups").get_to(conditions.warm_ups);
  json.at("discarded").get_to(conditions.discarded);
  json.at("stopped_by").get_to(conditions.stopped_by);
  conditions.median_clock_mhz = number_of(json.at("median_clock_mhz"));
  conditions.memory_clock_mhz = number_of(json.at("memory_clock_mhz"));
  conditions.temperature_c = number_of(json.at("temperature_c"));
  conditions.power_w = number_of(json.at("power_w"));
  json.at("throttle_reasons").get_to(conditions.throttle_reasons);
  json.at("outliers").get_to(conditions.outliers);
  conditions.drift = number_of(json.at("drift"));
  json.at("bimodal").get_to(conditions.bimodal);
}

void to_json(Json& json, const RaceResult& race) {
  json = {{"rival", race.rival},
          {"verdict", race.verdict},
          {"ratio", race.ratio ? number_json(*race.ratio) : Json()},
          {"bounds", bounds_json(race.bounds)},
          {"blocks", race.blocks}};
}

void from_json(const Json& json, RaceResult& race) {
  json.at("rival").get_to(race.rival);
  json.at("verdict").get_to(race.verdict);
  const Json& ratio = json.at("ratio");
  race.ratio = ratio.is_null() ? std::nullopt : std::optional(number_of(ratio));
  race.bounds = bounds_of(json.at("bounds"));
  json.at("blocks").get_to(race.blocks);
}

Json evaluation_json(const Evaluation& evaluation) {
  Json json{{"schema", "winnow.evaluation"},
            {"version", 3},
            {"verdict", to_string(evaluation.verdict)},
            {"stage", to_string(evaluation.stage)},
            {"detail", to_valid_utf8(evaluation.detail)},
            {"parameters", evaluation.parameters},
            {"build", readable_json(evaluation.build)},
            {"speedup", number_json(evaluation.speedup)},
            {"score_ns", number_json(evaluation.score_ns)},
            {"device", evaluation.device},
            {"device_name", evaluation.device_name},
            {"device_uuid", text_or_null(evaluation.device_uuid)},
            {"driver", text_or_null(evaluation.driver)},
            {"worker", text_or_null(evaluation.worker)},
            {"isolation", evaluation.isolation},
            {"evaluator_version", evaluation.evaluator_version},
            {"seed", evaluation.seed == 0 ? Json() : seed_json(evaluation.seed)},
            {"unranked", evaluation.unranked},
            {"started_at", evaluation.started_at},
            {"seconds", number_json(evaluation.seconds)}};
  json["hidden_speedup"] =
      evaluation.hidden_speedup > 0 ? number_json(evaluation.hidden_speedup) : Json();
  json["promoted"] = evaluation.promoted;
  put_bounds(json, "speedup_low", "speedup_high", evaluation.speedup_bounds);
  json["race"] = evaluation.race ? Json(*evaluation.race) : Json();
  json["profile"] = evaluation.profile.empty() ? Json() : Json::parse(evaluation.profile);
  json["notes"] = Json::array();
  for (const std::string& note : evaluation.notes) {
    json["notes"].push_back(to_valid_utf8(note));
  }
  json["cases"] = Json::array();
  for (const CaseResult& result : evaluation.cases) {
    json["cases"].push_back(case_json(result));
  }
  return json;
}

double median(std::vector<double> samples) {
  if (samples.empty()) {
    return 0;
  }
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 == 1) {
    return *middle;
  }
  return (*std::max_element(samples.begin(), middle) + *middle) / 2;
}

Bounds median_bounds(std::vector<double> samples) {
  constexpr std::size_t kFewest = 6;
  constexpr double kDeviations = 1.96; // of the number of samples below the median, on each side
  if (samples.size() < kFewest) {
    return {};
  }
  std::sort(samples.begin(), samples.end());
  const auto count = static_cast<double>(samples.size());
  const double reach = kDeviations * std::sqrt(count) / 2;
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(count / 2 - reach)));
  const auto high = static_cast<std::size_t>(std::min(count - 1, std::ceil(count / 2 + reach)));
  return {samples[low], samples[high]};
}

double geometric_mean(const std::vector<double>& values) {
  if (values.empty()) {
    return 0;
  }
  double sum_of_logs = 0;
  for (const double value : values) {
    if (!(value > 0)) {
      return 0;
    }
    sum_of_logs += std::log(value);
  }
  return std::exp(sum_of_logs / static_cast<double>(values.size()));
}

void JsonForm<Evaluation>::append(std::string& out, const Evaluation& evaluation) {
  append_fields(out, evaluation);
}

void JsonForm<Evaluation>::read(const nlohmann::json& json, const std::string& path,
                                Evaluation& evaluation) {
  read_fields(json, path, evaluation);
  if (!evaluation.profile.empty() && !nlohmann::json::accept(evaluation.profile)) {
    throw_bad_json(path + ".profile", "JSON");
  }
}

} // namespace winnow::tasks
