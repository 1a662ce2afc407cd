#include "bench/scale_workers.h"

#include "base/files.h"
#include "bench/process_usage.h"
#include "bench/simulated_judge.h"
#include "remote/broker_config.h"
#include "remote/broker_credentials.h"
#include "remote/testing/pool_fake.h"
#include "remote/transport_library.h"

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

namespace winnow::bench {
namespace {

constexpr int kTrustedOf = 64; // one of so many workers is trusted
constexpr std::chrono::milliseconds kTellEvery{1000};
/// Machines do not start at the same moment.
constexpr std::chrono::milliseconds kBetweenWorkers{20};

std::string name_of(int worker) {
  return "w" + std::to_string(worker);
}

bool is_trusted(int worker) {
  return worker % kTrustedOf == 0;
}

/// Sleeps as long as the device would work.
class SimulatedDevice {
public:
  explicit SimulatedDevice(JobTime time) : time_(time) {}
  std::vector<tasks::Evaluation> judge(const evaluators::EvaluationRequest& request) {
    const auto work = draw_time(time_.least_ms, time_.most_ms);
    std::this_thread::sleep_for(work);
    busy_ms_ += work.count();
    ++jobs_;
    return {simulated_verdict(request, std::chrono::duration<double>(work).count())};
  }
  std::string statistics() const {
    return fmt::format("{} {}\n", static_cast<double>(busy_ms_) / 1e3, jobs_.load());
  }

private:
  JobTime time_;
  std::atomic<std::int64_t> busy_ms_{0}, jobs_{0};
};

bool stdin_has_ended() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  char byte = 0;
  return poll(&input, 1, static_cast<int>(kTellEvery.count())) > 0 &&
         read(STDIN_FILENO, &byte, 1) <= 0;
}

} // namespace

std::vector<remote::WorkerIdentity> identities(int workers) {
  std::vector<remote::WorkerIdentity> all;
  for (int i = 0; i < workers; ++i) {
    all.push_back({name_of(i), "pool", is_trusted(i)});
  }
  return all;
}

WorkerProcesses::WorkerProcesses(const WorkerPlan& plan, const std::string& url,
                                 const std::filesystem::path& credentials,
                                 const std::filesystem::path& statistics) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  for (int i = 0; i < plan.processes; ++i) {
    Worker& worker = workers_.emplace_back();
    worker.statistics = statistics / std::to_string(i);
    worker.command.limits.wall = std::chrono::milliseconds(0);
    worker.command.argv = {self,
                           "work",
                           url,
                           credentials.string(),
                           worker.statistics.string(),
                           std::to_string(plan.workers * i / plan.processes),
                           std::to_string(plan.workers * (i + 1) / plan.processes),
                           std::to_string(plan.job.least_ms),
                           std::to_string(plan.job.most_ms)};
    worker.process = std::make_unique<process::ChildProcess>(worker.command);
  }
  watch_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

WorkDone WorkerProcesses::look_at(const Worker& worker) {
  WorkDone done;
  std::ifstream(worker.statistics) >> done.busy_seconds >> done.jobs;
  const ProcessUsage usage = usage_of(worker.process->pid());
  done.cpu_seconds = usage.cpu_seconds;
  done.resident_mb = usage.resident_mb;
  return done;
}

void WorkerProcesses::watch(const std::stop_token& stop) {
  for (; !stop.stop_requested(); std::this_thread::sleep_for(kTellEvery)) {
    const std::lock_guard lock(mutex_);
    for (Worker& worker : workers_) {
      if (worker.process->running()) {
        worker.seen = look_at(worker);
        continue;
      }
      worker.lost.busy_seconds += worker.seen.busy_seconds;
      worker.lost.jobs += worker.seen.jobs;
      worker.lost.cpu_seconds += worker.seen.cpu_seconds;
      worker.seen = {};
      std::filesystem::remove(worker.statistics);
      worker.process = std::make_unique<process::ChildProcess>(worker.command);
      ++restarts_;
    }
  }
}

WorkDone WorkerProcesses::done() const {
  const std::lock_guard lock(mutex_);
  WorkDone all;
  all.restarts = restarts_;
  for (const Worker& worker : workers_) {
    all.busy_seconds += worker.seen.busy_seconds + worker.lost.busy_seconds;
    all.jobs += worker.seen.jobs + worker.lost.jobs;
    all.cpu_seconds += worker.seen.cpu_seconds + worker.lost.cpu_seconds;
    all.resident_mb += worker.seen.resident_mb;
  }
  return all;
}

int work_in_process(const std::vector<std::string>& arguments) {
  const std::string& url = arguments.at(0);
  const std::filesystem::path credentials = arguments.at(1);
  SimulatedDevice device({std::stoi(arguments.at(5)), std::stoi(arguments.at(6))});
  std::vector<std::unique_ptr<remote::WorkerTransport>> transports;
  std::vector<std::unique_ptr<remote::test::WorkerOnThread>> workers;
  for (int i = std::stoi(arguments.at(3)); i < std::stoi(arguments.at(4)); ++i) {
    const auto file = credentials / (name_of(i) + ".credentials");
    transports.push_back(remote::nats_transports().worker(
        remote::broker_address(url, {.credentials = file.string()}),
        {name_of(i), "pool", is_trusted(i)}));
    workers.push_back(std::make_unique<remote::test::WorkerOnThread>(
        *transports.back(),
        [&device](const evaluators::EvaluationRequest& request, const std::stop_token&) {
          return device.judge(request);
        },
        is_trusted(i), false));
    std::this_thread::sleep_for(kBetweenWorkers);
  }
  while (!stdin_has_ended()) {
    write_file_atomic(arguments.at(2), device.statistics()); // read at any time
  }
  _exit(0); // a thousand workers need long to end in order, and nobody waits for their jobs
}

} // namespace winnow::bench
