#include "evaluators/evaluation/open_devices.h"

#include "base/recent.h"
#include "base/text.h"
#include "evaluators/evaluation/compile_ahead.h"
#include "evaluators/evaluation/evaluator.h"
#include "evaluators/evaluation/local_evaluations.h"
#include "evaluators/evaluation/precheck.h"
#include "evaluators/evaluation/sitting.h"
#include "evaluators/host/devices.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

constexpr int kCoresOfADevice = 2; // one for this process's thread, one for the worker or the judge
// A device keeps the evaluators of this many tasks; others are made again when they are needed.
constexpr std::size_t kMostEvaluators = 32;

class DeviceLane : public Lane {
public:
  DeviceLane(std::shared_ptr<DeviceHost> host, const DeviceReport& device, MachineOptions machine)
      : host_(std::move(host)), worker_(device.id + " " + device.name),
        machine_(std::move(machine)) {}

  std::vector<tasks::Evaluation> evaluate(const EvaluationRequest& request,
                                          const std::stop_token& stop) override {
    Evaluator& evaluator = evaluator_for(request);
    std::vector<tasks::Evaluation> evaluations;
    {
      const std::stop_callback cancel(stop, [&evaluator] { evaluator.cancel(); });
      evaluations = evaluator.evaluate(request);
    }
    if (stop.stop_requested()) {
      evaluators_.erase(key_of(request)); // it stays cancelled
    }
    return evaluations;
  }
  void prepare(const EvaluationRequest& request, const std::stop_token& stop) override {
    Evaluator& evaluator = evaluator_for(request);
    const std::stop_callback cancel(stop, [&evaluator] { evaluator.cancel(); });
    evaluator.prepare();
  }
  SittingAnswer hold(const SittingRequest& request, const std::stop_token& stop,
                     const HoldProgress& progress) override {
    SittingAnswer answer = hold_sittings(request, host_, machine_, stop, progress);
    answer.worker = worker_;
    return answer;
  }
  std::string lost_device() const override { return quarantine(*host_); }
  std::string worker() const override { return worker_; }

private:
  struct Key {
    std::string task, digest;
    Protocol protocol;
    auto operator<=>(const Key&) const = default;
  };
  static Key key_of(const EvaluationRequest& request) {
    return {request.task->name, request.task->digest, request.protocol};
  }
  Evaluator& evaluator_for(const EvaluationRequest& request) {
    Key key = key_of(request);
    if (const std::unique_ptr<Evaluator>* known = evaluators_.find(key)) {
      return **known;
    }
    EvaluationOptions options{request.protocol, machine_};
    return *evaluators_.put(std::move(key),
                            std::make_unique<Evaluator>(*request.task, host_, std::move(options)));
  }

  std::shared_ptr<DeviceHost> host_;
  std::string worker_;
  MachineOptions machine_;
  Recent<Key, std::unique_ptr<Evaluator>> evaluators_{kMostEvaluators};
};

} // namespace

nlohmann::json DevicePool::environment() const {
  return {};
}

OpenDevices::OpenDevices(const MachineOptions& machine, std::chrono::milliseconds run_timeout,
                         std::function<void(const std::string&)> warn)
    : machine_(machine), warn_(std::move(warn)) {
  require_precheck_program(machine.precheck);
  reports_ = select_devices(machine.device);
  for (const DeviceReport& report : reports_) {
    hosts_.push_back(open_device(report, machine, run_timeout));
  }
}

OpenDevices::~OpenDevices() {
  std::vector<std::thread> threads;
  for (auto& host : hosts_) {
    threads.emplace_back([&host] { host.reset(); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

std::string OpenDevices::names() const {
  std::vector<std::string> ids;
  ids.reserve(reports_.size());
  for (const DeviceReport& report : reports_) {
    ids.push_back(report.id);
  }
  return join(ids, ",");
}

void OpenDevices::start_torch() const {
  for (const std::shared_ptr<DeviceHost>& host : hosts_) {
    host->torch.start();
  }
}

std::unique_ptr<Evaluations> OpenDevices::evaluations(TakeResult done) const {
  LocalEvaluations::Setup setup;
  setup.done = std::move(done);
  setup.warn = warn_;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    setup.lanes.push_back(std::make_unique<DeviceLane>(hosts_[i], reports_[i], machine_));
  }
  if (first().kind != "cpu") {
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    const auto devices = static_cast<int>(hosts_.size());
    // A kernel compiles in less time than a device needs to judge it.
    setup.compile_threads =
        static_cast<unsigned>(std::max(devices, cores - kCoresOfADevice * devices));
    setup.compile_ahead = [host = hosts_.front()](const EvaluationRequest& request,
                                                  const std::function<bool()>& cancelled) {
      compile_ahead(*host, request, cancelled);
    };
  }
  return std::make_unique<LocalEvaluations>(std::move(setup));
}

HostStatistics OpenDevices::statistics() const {
  HostStatistics sum;
  for (const auto& host : hosts_) {
    const HostStatistics one = evaluators::statistics(*host);
    sum.run_seconds += one.run_seconds;
    sum.judge_seconds += one.judge_seconds;
    sum.compile_seconds += one.compile_seconds;
    sum.judge_starts += one.judge_starts;
    sum.worker_restarts += one.worker_restarts;
    sum.recoveries += one.recoveries;
    sum.recovery_seconds += one.recovery_seconds;
    sum.longest_recovery_seconds =
        std::max(sum.longest_recovery_seconds, one.longest_recovery_seconds);
  }
  return sum;
}

std::string OpenDevices::account(std::size_t candidates, double seconds) const {
  const HostStatistics spent = statistics();
  const double all = seconds * static_cast<double>(hosts_.size()) / 100;
  const double known = spent.run_seconds + spent.judge_seconds + spent.compile_seconds;
  return fmt::format(
      "{} candidates in {:.1f} s: {:.0f} a minute\nof the devices' time workers ran {:.0f} %, the "
      "judge compared {:.0f} %, compilers were waited for {:.0f} %, the rest is {:.0f} %\n"
      "worker restarts: {}\n",
      candidates, seconds, static_cast<double>(candidates) * 60 / seconds, spent.run_seconds / all,
      spent.judge_seconds / all, spent.compile_seconds / all, 100 - known / all,
      spent.worker_restarts);
}

} // namespace winnow::evaluators
