#include "measure/measured_throughput.h"

#include "evaluators/evaluation/profile.h"
#include "measure/process_usage.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <latch>
#include <memory>
#include <mutex>
#include <vector>

#include <fmt/format.h>

namespace winnow {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

double milliseconds_of_counting(const evaluators::EvaluationResult& result) {
  double sum = 0;
  for (const tasks::Evaluation& evaluation : result.evaluations) {
    for (const evaluators::ProfiledShape& profiled : evaluators::profile_of(evaluation)) {
      sum += profiled.shape.counters.collect_ms;
    }
  }
  return sum;
}

void print_recoveries(const evaluators::HostStatistics& spent) {
  if (spent.worker_restarts == 0) {
    return;
  }
  std::printf("%d workers broken; the next candidate waited for another %.0f ms on average, %.0f "
              "ms at most\n",
              spent.worker_restarts, 1e3 * spent.recovery_seconds / std::max(1, spent.recoveries),
              1e3 * spent.longest_recovery_seconds);
}

// The first half contains the start of the workers and the measurement of the ceilings.
double rate_of_second_half(const std::vector<Clock::time_point>& results) {
  if (results.size() < 2) {
    return 0;
  }
  const auto middle = results.begin() + static_cast<std::ptrdiff_t>(results.size() / 2) - 1;
  return 60 * static_cast<double>(results.end() - middle - 1) /
         seconds_between(*middle, results.back());
}

int number_of(const MeasuredThroughput& measured, tasks::Verdict verdict) {
  const auto found = measured.verdicts.find(verdict);
  return found == measured.verdicts.end() ? 0 : found->second;
}

} // namespace

MeasuredThroughput judge_all(const tasks::Task& task, const evaluators::Protocol& protocol,
                             const evaluators::DevicePool& devices, const MakeKernel& make,
                             int count, int faults) {
  std::mutex mutex;
  MeasuredThroughput measured;
  measured.count = count;
  std::vector<Clock::time_point> results;
  std::latch done(count);
  const double cpu_before = measure::own_cpu_seconds();
  const Clock::time_point start = Clock::now();
  const auto evaluations = devices.evaluations([&](const evaluators::EvaluationResult& result) {
    const std::lock_guard lock(mutex);
    ++measured.verdicts[result.evaluations.empty() ? tasks::Verdict::Infrastructure
                                                   : result.evaluations.front().verdict];
    measured.counting_ms += milliseconds_of_counting(result);
    results.push_back(Clock::now());
    done.count_down();
  });
  evaluators::EvaluationRequest request;
  request.task = std::make_shared<const tasks::Task>(task);
  request.protocol = protocol;
  for (int i = 0; i < count; ++i) {
    const bool faulty = (i + 1) * faults / count != i * faults / count; // faults are spread evenly
    request.id = request.file_name = fmt::format("{}_{}.cu", task.name, i);
    request.text = make(i, faulty);
    evaluations->submit(request);
  }
  done.wait();
  measured.seconds = seconds_between(start, Clock::now());
  measured.coordinator_s = measure::own_cpu_seconds() - cpu_before;
  evaluations->stop();
  measured.of_second_half = rate_of_second_half(results);
  return measured;
}

void print(const MeasuredThroughput& measured, const evaluators::DevicePool& devices) {
  std::printf("%s",
              devices.account(static_cast<std::size_t>(measured.count), measured.seconds).c_str());
  if (measured.of_second_half > 0) {
    std::printf("second half: %.0f a minute\n", measured.of_second_half);
  }
  std::printf("counters took %.1f ms a candidate\n", measured.counting_ms / measured.count);
  std::printf("the coordinator used %.1f %% of a core, %.1f ms a candidate\n",
              measured.coordinator_percent(), measured.coordinator_ms());
  print_recoveries(devices.statistics());
  for (const auto& [verdict, number] : measured.verdicts) {
    std::printf("%d %s\n", number, std::string(to_string(verdict)).c_str());
  }
}

void print_head_of_gpus() {
  std::printf(
      "| GPUs | number | of them correct | seconds | a minute | of linear | second half, a minute "
      "| of linear | coordinator, of a core | its ms a candidate | counting, ms a candidate |\n"
      "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
}

void print_row_of_gpus(int gpus, const MeasuredThroughput& measured, int first_gpus,
                       const MeasuredThroughput& first) {
  const double times = static_cast<double>(gpus) / first_gpus;
  std::printf("| %d | %d | %d | %.1f | %.0f | %.2f | %.0f | %.2f | %.1f %% | %.1f | %.1f |\n", gpus,
              measured.count, number_of(measured, tasks::Verdict::Correct), measured.seconds,
              measured.a_minute(), measured.a_minute() / first.a_minute() / times,
              measured.of_second_half, measured.of_second_half / first.of_second_half / times,
              measured.coordinator_percent(), measured.coordinator_ms(),
              measured.counting_ms / measured.count);
  std::fflush(stdout);
}

} // namespace winnow
