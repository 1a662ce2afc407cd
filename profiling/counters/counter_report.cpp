#include "profiling/counters/counter_report.h"

#include <cmath>

#include <nlohmann/json.hpp>

namespace winnow::profiling {
namespace {

constexpr const char* kNotFinite = "not a finite number";

nlohmann::json json_of(const CounterValue& counter) {
  if (counter.value && std::isfinite(*counter.value)) {
    return {{"value", *counter.value}};
  }
  return {{"value", nullptr}, {"reason", counter.value ? kNotFinite : counter.reason}};
}

CounterValue counter_of(const nlohmann::json& json) {
  CounterValue counter;
  if (json.at("value").is_null()) {
    json.at("reason").get_to(counter.reason);
  } else {
    counter.value = json.at("value").get<double>();
  }
  return counter;
}

} // namespace

std::optional<double> CounterReport::value(std::string_view key) const {
  const auto found = counters.find(std::string(key));
  return found != counters.end() ? found->second.value : std::nullopt;
}

void to_json(nlohmann::json& json, const CounterReport& report) {
  nlohmann::json counters = nlohmann::json::object();
  for (const auto& [key, counter] : report.counters) {
    counters[key] = json_of(counter);
  }
  json = {{"provider", report.provider},     {"unavailable", report.unavailable},
          {"counters", std::move(counters)}, {"passes", report.passes},
          {"setup_ms", report.setup_ms},     {"collect_ms", report.collect_ms}};
}

void from_json(const nlohmann::json& json, CounterReport& report) {
  report = {};
  json.at("provider").get_to(report.provider);
  json.at("unavailable").get_to(report.unavailable);
  for (const auto& [key, counter] : json.at("counters").items()) {
    report.counters[key] = counter_of(counter);
  }
  json.at("passes").get_to(report.passes);
  json.at("setup_ms").get_to(report.setup_ms);
  json.at("collect_ms").get_to(report.collect_ms);
}

} // namespace winnow::profiling
