#include "profiling/counters/counter_report.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

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

void scale(CounterReport& report, std::initializer_list<const char*> keys, double factor) {
  constexpr double kWhole = 100;
  for (const char* key : keys) {
    const auto found = report.counters.find(key);
    if (found != report.counters.end() && found->second.value && factor > 1) {
      found->second.value = std::min(kWhole, *found->second.value * factor);
    }
  }
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

void leave_out_idle_time(CounterReport& report, double time_ns, double clock_mhz) {
  const std::optional<double> range_ns = report.value("gpu_time_ns");
  const std::optional<double> cycles = report.value("sm_cycles");
  if (!(time_ns > 0)) {
    return;
  }
  if (range_ns && *range_ns > time_ns) {
    scale(report, {"dram_throughput_pct", "l2_throughput_pct"}, *range_ns / time_ns);
    report.counters["gpu_time_ns"].value = time_ns;
  }
  const double busy_cycles = clock_mhz * 1e-3 * time_ns;
  if (cycles && busy_cycles > 0 && *cycles > busy_cycles) {
    scale(report, {"l1_throughput_pct", "sm_throughput_pct"}, *cycles / busy_cycles);
    report.counters["sm_cycles"].value = busy_cycles;
  }
}

} // namespace winnow::profiling
