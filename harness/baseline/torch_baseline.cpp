#include "harness/baseline/torch_baseline.h"

#include "base/error.h"
#include "evaluators/host/device_host.h"
#include "evaluators/host/devices.h"
#include "evaluators/host/open_device.h"
#include "harness/baseline/torch_measurement.h"
#include "harness/baseline/torch_process.h"
#include "harness/report/counted.h"

#include <algorithm>
#include <iostream>
#include <span>
#include <thread>

namespace winnow::harness {
namespace {

constexpr unsigned kCoresOfATask = 2;   // torch.compile has processes of its own
constexpr unsigned kMostSideBySide = 8; // they share the GPU's memory

std::shared_ptr<evaluators::DeviceHost> open_selected(const TorchBaselineOptions& options) {
  return evaluators::open_device(evaluators::select_device(options.evaluation.device),
                                 options.evaluation, options.timeout);
}

/// A measurement of each task whose answers are there; null: its task threw Error beside others, or
/// it is the only one.
std::vector<std::unique_ptr<TorchMeasurement>>
answer_side_by_side(std::span<const tasks::Task> tasks, const TorchBaselineOptions& options,
                    const evaluators::DeviceHost& open) {
  std::vector<std::unique_ptr<TorchMeasurement>> measurements(tasks.size());
  if (tasks.size() == 1) {
    return measurements;
  }
  std::cerr << "PyTorch compiles and answers for "
            << counted(static_cast<std::int64_t>(tasks.size()), "task") << '\n';
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        auto measurement = open_measurement(tasks[i], options, open);
        measurement->answer();
        measurements[i] = std::move(measurement);
      } catch (const std::exception&) { // it is tried again alone
      }
    });
  }
  threads.clear();
  return measurements;
}

TorchBaseline measure(const tasks::Task& task, const TorchBaselineOptions& options,
                      const evaluators::DeviceHost& open) {
  const auto measurement = open_measurement(task, options, open);
  measurement->answer();
  return measurement->time();
}

} // namespace

TorchBaseline measure_torch(const tasks::Task& task, const TorchBaselineOptions& options) {
  return measure(task, options, *open_selected(options));
}

bool for_each_torch_baseline(
    const std::vector<tasks::Task>& tasks, const TorchBaselineOptions& options,
    const std::function<void(const tasks::Task&, const TorchBaseline&)>& done) {
  if (tasks.empty()) {
    return true;
  }
  const auto open = open_selected(options);
  const unsigned cores = std::thread::hardware_concurrency();
  const std::size_t most =
      options.jobs > 0 ? options.jobs : std::clamp(cores / kCoresOfATask, 1U, kMostSideBySide);
  bool all_are_done = true;
  for (std::size_t first = 0; first < tasks.size(); first += most) {
    const auto group = std::span(tasks).subspan(first, std::min(most, tasks.size() - first));
    auto measurements = answer_side_by_side(group, options, *open);
    for (std::size_t i = 0; i < group.size(); ++i) {
      const tasks::Task& task = group[i];
      try {
        std::cerr << task.name << ": the alternatives of PyTorch are timed\n";
        if (measurements[i]) {
          measurements[i]->answer_missing();
          done(task, measurements[i]->time());
        } else {
          done(task, measure(task, options, *open));
        }
      } catch (const DeviceUnavailable&) {
        throw;
      } catch (const Error& error) {
        std::cerr << task.name << ": they have no times: " << error.what() << '\n';
        all_are_done = false;
      }
      measurements[i].reset(); // its memory goes back
    }
  }
  return all_are_done;
}

bool agrees(const TorchBaseline& baseline) {
  return std::none_of(baseline.timings.begin(), baseline.timings.end(),
                      [](const store::BaselineTiming& timing) {
                        return timing.agrees == false &&
                               (timing.name == kTorchEager || timing.name == kTorchCompiled);
                      });
}

} // namespace winnow::harness
