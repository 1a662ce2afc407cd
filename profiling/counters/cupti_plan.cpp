#include "profiling/counters/cupti_plan.h"

#include "profiling/counters/cupti_failure.h"

#include <utility>

#include <fmt/format.h>

namespace winnow::profiling::cupti {

HostObject::HostObject(const Functions& functions, const Chip& chip) : cupti_(functions) {
  auto params = WINNOW_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params);
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = chip.name.c_str();
  params.pCounterAvailabilityImage = chip.availability.empty() ? nullptr : chip.availability.data();
  const CUptiResult result = cupti_.cuptiProfilerHostInitialize(&params);
  if (result == CUPTI_ERROR_INVALID_CHIP_NAME) {
    throw CuptiFailure(fmt::format("{} does not know the chip {}", cupti_.path, chip.name),
                       "install a newer CUPTI", true);
  }
  check(cupti_, result, "cuptiProfilerHostInitialize");
  object_ = params.pHostObject;
}

HostObject::HostObject(HostObject&& other) noexcept
    : cupti_(other.cupti_), object_(std::exchange(other.object_, nullptr)) {}

HostObject::~HostObject() {
  if (object_ != nullptr) {
    auto params = WINNOW_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params);
    params.pHostObject = object_;
    cupti_.cuptiProfilerHostDeinitialize(&params);
  }
}

CUptiResult HostObject::properties(const std::string& metric) const {
  auto params = WINNOW_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params);
  params.pHostObject = object_;
  params.pMetricName = metric.c_str();
  return cupti_.cuptiProfilerHostGetMetricProperties(&params);
}

CUptiResult HostObject::add(std::span<const char*> metrics) {
  auto params = WINNOW_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params);
  params.pHostObject = object_;
  params.ppMetricNames = metrics.data();
  params.numMetrics = metrics.size();
  return cupti_.cuptiProfilerHostConfigAddMetrics(&params);
}

Image HostObject::config_image() const {
  auto size = WINNOW_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params);
  size.pHostObject = object_;
  check(cupti_, cupti_.cuptiProfilerHostGetConfigImageSize(&size),
        "cuptiProfilerHostGetConfigImageSize");
  Image image(size.configImageSize);
  auto params = WINNOW_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params);
  params.pHostObject = object_;
  params.configImageSize = image.size();
  params.pConfigImage = image.data();
  check(cupti_, cupti_.cuptiProfilerHostGetConfigImage(&params), "cuptiProfilerHostGetConfigImage");
  return image;
}

CUptiResult HostObject::evaluate(const std::string& metric, const Image& data, std::size_t range,
                                 double& value) const {
  const char* name = metric.c_str();
  auto params = WINNOW_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
  params.pHostObject = object_;
  params.pCounterDataImage = data.data();
  params.counterDataImageSize = data.size();
  params.rangeIndex = range;
  params.ppMetricNames = &name;
  params.numMetrics = 1;
  params.pMetricValues = &value;
  return cupti_.cuptiProfilerHostEvaluateToGpuValues(&params);
}

std::size_t passes_of(const Functions& functions, const Image& config) {
  Image image = config; // the parameter is not const
  auto params = WINNOW_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params);
  params.configImageSize = image.size();
  params.pConfigImage = image.data();
  check(functions, functions.cuptiProfilerHostGetNumOfPasses(&params),
        "cuptiProfilerHostGetNumOfPasses");
  return params.numOfPasses;
}

std::vector<const char*> Plan::metrics() const {
  std::vector<const char*> names;
  names.reserve(counters.size());
  for (const PlannedCounter& counter : counters) {
    names.push_back(counter.metric.c_str());
  }
  return names;
}

std::optional<std::string> refusal_of(const Functions& functions, const Chip& chip,
                                      const std::string& metric) {
  HostObject scratch(functions, chip);
  CUptiResult result = scratch.properties(metric);
  if (result != CUPTI_SUCCESS) {
    return fmt::format("{} has no metric {} ({})", chip.name, metric, name_of(functions, result));
  }
  const char* name = metric.c_str();
  result = scratch.add({&name, 1});
  if (result != CUPTI_SUCCESS) {
    return fmt::format("{} cannot count {} ({})", chip.name, metric, name_of(functions, result));
  }
  try {
    passes_of(functions, scratch.config_image());
  } catch (const CuptiFailure& failure) {
    return fmt::format("{} cannot count {}: {}", chip.name, metric, failure.what());
  }
  return std::nullopt;
}

namespace {

void choose_metric(const Functions& functions, const Chip& chip, const CounterName& name,
                   Plan& plan) {
  std::string why;
  for (const std::string_view metric : {name.metric, name.fallback}) {
    if (metric.empty()) {
      continue;
    }
    const std::optional<std::string> refusal = refusal_of(functions, chip, std::string(metric));
    if (!refusal) {
      plan.counters.push_back({name, std::string(metric)});
      return;
    }
    why += (why.empty() ? "" : "; ") + *refusal;
  }
  plan.left_out.emplace(name.key, why);
}

} // namespace

Plan make_plan(const Functions& functions, const Chip& chip, std::span<const CounterName> names) {
  Plan plan{HostObject(functions, chip), {}, {}, {}, 0};
  for (const CounterName& name : names) {
    choose_metric(functions, chip, name, plan);
  }
  if (plan.counters.empty()) {
    throw CuptiFailure(fmt::format("{} has none of the counters of this set", chip.name),
                       "use a GPU that CUPTI's range profiler supports (Turing or later)", true);
  }
  std::vector<const char*> metrics = plan.metrics();
  check(functions, plan.host.add(metrics), "cuptiProfilerHostConfigAddMetrics");
  plan.config = plan.host.config_image();
  plan.passes = passes_of(functions, plan.config);
  return plan;
}

} // namespace winnow::profiling::cupti
