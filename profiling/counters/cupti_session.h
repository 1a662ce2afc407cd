// Counts kernels with CUPTI's range profiler in user range and user replay mode. For the .cpp files
// of this folder only.
#pragma once

#include "profiling/counters/counter_provider.h"
#include "profiling/counters/cupti_failure.h"
#include "profiling/counters/cupti_plan.h"

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace winnow::profiling::cupti {

/// The most runs of one pass.
inline constexpr std::size_t kMostRanges = 16;

/// Keeps the range profiler enabled for a context during its lifetime, for one plan: CUPTI 13.0
/// loses ranges when the counter data image of a session changes. The order of calls follows
/// the "Range Profiling API" in CUPTI's documentation. User range and user replay, because the
/// caller owns the buffers and restores them exactly, and because a candidate may launch several
/// kernels. For each list of runs: configure(), run_pass() until it returns true, decode(). After a
/// failure: close().
class RangeSession {
public:
  /// Throws CuptiFailure. `functions` and `plan` must outlive the session.
  RangeSession(const Functions& functions, CUcontext context, const Plan& plan)
      : cupti_(functions), plan_(plan), config_(plan.config) {
    auto params = WINNOW_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params);
    params.ctx = context;
    check(cupti_, cupti_.cuptiRangeProfilerEnable(&params), "cuptiRangeProfilerEnable");
    object_ = params.pRangeProfilerObject;
  }
  /// Closes an open pass and disables the range profiler.
  ~RangeSession() { close(); }
  RangeSession(const RangeSession&) = delete;
  RangeSession& operator=(const RangeSession&) = delete;

  const Plan& plan() const { return plan_; }
  /// Begins to count `runs` runs, kMostRanges at most. Throws CuptiFailure.
  void configure(std::size_t runs) {
    runs_ = runs;
    if (data_.empty()) { // CUPTI takes 2 ms to tell the size
      data_.assign(counter_data_bytes(), 0);
    }
    clear_counter_data();
    auto params = WINNOW_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params);
    params.pRangeProfilerObject = object_;
    params.configSize = config_.size();
    params.pConfig = config_.data();
    params.counterDataImageSize = data_.size();
    params.pCounterDataImage = data_.data();
    params.range = CUPTI_UserRange;
    params.replayMode = CUPTI_UserReplay;
    params.maxRangesPerPass = kMostRanges;
    params.numNestingLevels = 1;
    params.minNestingLevel = 1;
    params.passIndex = 0;
    params.targetNestingLevel = 1;
    check(cupti_, cupti_.cuptiRangeProfilerSetConfig(&params), "cuptiRangeProfilerSetConfig");
  }
  /// Makes each run a range. Returns true after the last pass. Exceptions of the runs pass through;
  /// then close() ends the pass. Throws CuptiFailure.
  bool run_pass(std::span<const CountedRun> runs) {
    auto start = WINNOW_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params);
    start.pRangeProfilerObject = object_;
    check(cupti_, cupti_.cuptiRangeProfilerStart(&start), "cuptiRangeProfilerStart");
    started_ = true;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      run_range(runs[i], range_name(i));
    }
    bool all_submitted = false;
    check(cupti_, stop(all_submitted), "cuptiRangeProfilerStop");
    return all_submitted;
  }
  /// The counter data of the ranges. Waits for the context. Throws CuptiFailure if a range was
  /// dropped or is missing.
  const Image& decode() {
    auto params = WINNOW_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params);
    params.pRangeProfilerObject = object_;
    check(cupti_, cupti_.cuptiRangeProfilerDecodeData(&params), "cuptiRangeProfilerDecodeData");
    auto info = WINNOW_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params);
    info.pCounterDataImage = data_.data();
    info.counterDataImageSize = data_.size();
    check(cupti_, cupti_.cuptiRangeProfilerGetCounterDataInfo(&info),
          "cuptiRangeProfilerGetCounterDataInfo");
    if (params.numOfRangeDropped != 0 || info.numTotalRanges != runs_) {
      throw CuptiFailure(
          fmt::format("CUPTI dropped {} ranges and kept {}; expected to keep {} and drop none",
                      params.numOfRangeDropped, info.numTotalRanges, runs_),
          "count again; if the error stays, another tool uses CUPTI in this process", false);
    }
    return data_;
  }
  /// Ends an open pass and disables the range profiler. Returns an empty string, or the error;
  /// after an error the profiler may still be enabled.
  std::string close() noexcept {
    if (object_ == nullptr) {
      return {};
    }
    abandon_pass();
    auto params = WINNOW_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params);
    params.pRangeProfilerObject = std::exchange(object_, nullptr);
    const CUptiResult result = cupti_.cuptiRangeProfilerDisable(&params);
    if (result == CUPTI_SUCCESS) {
      return {};
    }
    return fmt::format("cuptiRangeProfilerDisable failed ({})", name_of(cupti_, result));
  }

private:
  /// CUPTI adds up the counts of ranges with one name.
  static std::string range_name(std::size_t run) { return "run " + std::to_string(run); }
  std::size_t counter_data_bytes() const {
    std::vector<const char*> metrics = plan_.metrics();
    auto size = WINNOW_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params);
    size.pRangeProfilerObject = object_;
    size.pMetricNames = metrics.data();
    size.numMetrics = metrics.size();
    size.maxNumOfRanges = kMostRanges;
    size.maxNumRangeTreeNodes = kMostRanges;
    check(cupti_, cupti_.cuptiRangeProfilerGetCounterDataSize(&size),
          "cuptiRangeProfilerGetCounterDataSize");
    return size.counterDataSize;
  }
  void run_range(const CountedRun& run, const std::string& name) {
    run.restore();
    auto push = WINNOW_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params);
    push.pRangeProfilerObject = object_;
    push.pRangeName = name.c_str();
    check(cupti_, cupti_.cuptiRangeProfilerPushRange(&push), "cuptiRangeProfilerPushRange");
    pushed_ = true;
    run.launch();
    check(cupti_, pop(), "cuptiRangeProfilerPopRange");
  }
  void clear_counter_data() {
    auto params = WINNOW_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
    params.pRangeProfilerObject = object_;
    params.counterDataSize = data_.size();
    params.pCounterData = data_.data();
    check(cupti_, cupti_.cuptiRangeProfilerCounterDataImageInitialize(&params),
          "cuptiRangeProfilerCounterDataImageInitialize");
  }
  CUptiResult pop() noexcept {
    auto params = WINNOW_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params);
    params.pRangeProfilerObject = object_;
    pushed_ = false;
    return cupti_.cuptiRangeProfilerPopRange(&params);
  }
  CUptiResult stop(bool& all_submitted) noexcept {
    auto params = WINNOW_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params);
    params.pRangeProfilerObject = object_;
    started_ = false;
    const CUptiResult result = cupti_.cuptiRangeProfilerStop(&params);
    all_submitted = params.isAllPassSubmitted != 0;
    return result;
  }
  void abandon_pass() noexcept {
    if (pushed_) {
      pop();
    }
    if (started_) {
      bool ignored = false;
      stop(ignored);
    }
  }

  const Functions& cupti_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  bool started_ = false;
  bool pushed_ = false;
  const Plan& plan_;
  std::size_t runs_ = 0; ///< to count
  Image config_;         ///< CUPTI keeps pointers to both images
  Image data_;
};

} // namespace winnow::profiling::cupti
