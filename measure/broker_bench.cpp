// What a broker costs: starts nats-server on the loopback interface, simulated workers and one
// coordinator in this process, and measures the time of a job beyond its judging, and which share
// of their time many workers are at work. With --kills the program kills the broker at random
// moments instead, half of the times with the loss of all that it stored, and counts the results of
// each request. Needs nats-server and libwinnow_nats.so.
#include "base/error.h"
#include "measure/process_usage.h"
#include "remote/remote_evaluations.h"
#include "remote/testing/nats_server_fake.h"
#include "remote/testing/pool_fake.h"
#include "remote/transport_library.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

namespace {

using namespace winnow;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Options {
  int workers = 64;
  int jobs = 2000;
  int job_ms = 200;
  int kills = 0;
};

std::vector<remote::WorkerIdentity> identities(int count) {
  std::vector<remote::WorkerIdentity> workers;
  for (int i = 0; i < count; ++i) {
    workers.push_back({"w" + std::to_string(i), "pool", false});
  }
  return workers;
}

constexpr int kWarmingJobs = 20;
constexpr int kJobsOneByOne = 300;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// When simulated workers have judged.
class WorkTime {
public:
  struct Job {
    Clock::time_point begin, end;
  };
  void add(const Job& job) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(job);
  }
  /// Those that had not ended then, in the order in which they began.
  std::vector<Job> jobs_since(Clock::time_point since) const {
    std::vector<Job> jobs;
    {
      const std::lock_guard lock(mutex_);
      std::copy_if(jobs_.begin(), jobs_.end(), std::back_inserter(jobs),
                   [&](const Job& job) { return job.end > since; });
    }
    std::sort(jobs.begin(), jobs.end(),
              [](const Job& a, const Job& b) { return a.begin < b.begin; });
    return jobs;
  }

private:
  mutable std::mutex mutex_; ///< guards jobs_
  std::vector<Job> jobs_;
};

/// The share of the time between the two at which `workers` worked at these jobs.
double busy_share(const std::vector<WorkTime::Job>& jobs, int workers, Clock::time_point from,
                  Clock::time_point to) {
  Clock::duration work{};
  for (const WorkTime::Job& job : jobs) {
    work += std::max(std::min(job.end, to) - std::max(job.begin, from), Clock::duration());
  }
  return std::chrono::duration<double>(work) / std::chrono::duration<double>(to - from) / workers;
}

/// CPU seconds so far.
struct CpuTime {
  double coordinator = 0, workers = 0, broker = 0;
};

/// Sleeps as long as a job takes, and answers always the same.
class SleepingJudge {
public:
  SleepingJudge(milliseconds time, WorkTime& times) : time_(time), times_(&times) {}

  std::vector<tasks::Evaluation> operator()(const evaluators::EvaluationRequest& /*request*/,
                                            const std::stop_token& /*stop*/) {
    const auto start = Clock::now();
    std::this_thread::sleep_for(time_);
    times_->add({start, Clock::now()});
    return answer_;
  }

private:
  milliseconds time_;
  WorkTime* times_;
  std::vector<tasks::Evaluation> answer_ =
      remote::test::judge_correct(remote::test::request_of("any kernel"), {});
};

/// The threads of this process.
std::vector<int> own_threads() {
  std::vector<int> threads;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    threads.push_back(std::stoi(entry.path().filename().string()));
  }
  return threads;
}

/// A coordinator and workers at one broker.
class Pool {
public:
  Pool(const remote::test::NatsServerFake& server, int workers, milliseconds time)
      : transport_(remote::nats_transports().coordinator(server.address_of("coordinator"),
                                                         session_.id())) {
    transport_->prepare("pool");
    transport_->set_pool_rules("pool", encode(session_.rules));
    evaluations_ = std::make_unique<remote::RemoteEvaluations>(
        remote::RemoteEvaluations::Setup{*transport_,
                                         roster_,
                                         session_,
                                         results_.taker(),
                                         [](const std::string& line) { std::puts(line.c_str()); },
                                         {}});
    coordinator_threads_ = own_threads();
    for (const remote::WorkerIdentity& identity : identities(workers)) {
      connections_.push_back(
          remote::nats_transports().worker(server.address_of(identity.name), identity));
      workers_.push_back(std::make_unique<remote::test::WorkerOnThread>(
          *connections_.back(), SleepingJudge(time, times_), false, false));
    }
  }

  /// How many requests had one result that is no fault.
  int well_answered() const {
    const auto counts = results_.counts();
    const auto results = results_.all();
    return static_cast<int>(std::count_if(results.begin(), results.end(), [&](const auto& result) {
      return result.fault.empty() && counts.at(result.id) == 1;
    }));
  }

  std::vector<evaluators::EvaluationRequest> new_requests(int count) {
    std::vector<evaluators::EvaluationRequest> requests;
    for (int i = 0; i < count; ++i) {
      requests.push_back(remote::test::request_of("kernel " + std::to_string(next_++)));
    }
    return requests;
  }
  double seconds_of(int jobs) { return seconds_of(new_requests(jobs)); }
  /// How long the jobs take, submitted all at once.
  double seconds_of(std::vector<evaluators::EvaluationRequest> requests) {
    const std::size_t all = results_.all().size() + requests.size();
    const auto start = Clock::now();
    for (evaluators::EvaluationRequest& request : requests) {
      evaluations_->submit(std::move(request));
    }
    while (!results_.wait_for(all)) {
    }
    return seconds_since(start);
  }
  const WorkTime& times() const { return times_; }
  CpuTime cpu_time(int broker) const {
    CpuTime time;
    for (const int thread : coordinator_threads_) {
      time.coordinator += measure::cpu_seconds_of_thread(thread);
    }
    time.workers = measure::usage_of(getpid()).cpu_seconds - time.coordinator;
    time.broker = measure::usage_of(broker).cpu_seconds;
    return time;
  }

private:
  WorkTime times_;
  remote::RemoteSession session_{"pool", remote::test::pool_rules(), "bench"};
  std::unique_ptr<remote::CoordinatorTransport> transport_;
  remote::WorkerRoster roster_{"pool"};
  remote::test::Results results_;
  std::unique_ptr<remote::RemoteEvaluations> evaluations_;
  std::vector<int> coordinator_threads_;
  std::vector<std::unique_ptr<remote::WorkerTransport>> connections_;
  std::vector<std::unique_ptr<remote::test::WorkerOnThread>> workers_;
  int next_ = 0;
};

/// One job after the other, each judged in no time: all that is left is the way there and back.
void measure_overhead(const remote::test::NatsServerFake& server) {
  Pool pool(server, 1, milliseconds(0));
  pool.seconds_of(kWarmingJobs); // connections and tasks are there now
  std::vector<double> times;
  for (int i = 0; i < kJobsOneByOne; ++i) {
    times.push_back(pool.seconds_of(1) * 1e3);
  }
  std::sort(times.begin(), times.end());
  std::printf("overhead of a job: median %.2f ms, 95 %% below %.2f ms (%d jobs, one at a time)\n",
              times[kJobsOneByOne / 2], times[kJobsOneByOne * 95 / 100], kJobsOneByOne);
}

void measure_share(const remote::test::NatsServerFake& server, const Options& options) {
  Pool pool(server, options.workers, milliseconds(options.job_ms));
  pool.seconds_of(options.workers);
  auto requests = pool.new_requests(options.jobs);
  const CpuTime before = pool.cpu_time(server.process_id());
  const auto start = Clock::now();
  const double seconds = pool.seconds_of(std::move(requests));
  const auto end = Clock::now();
  const CpuTime after = pool.cpu_time(server.process_id());
  const auto jobs = pool.times().jobs_since(start);
  // Until then each worker could have a job.
  const auto last_request = jobs.at(static_cast<std::size_t>(options.jobs) - 1).begin;
  const double ms_for_each = 1e3 / static_cast<double>(jobs.size());
  std::printf("%d workers, %d jobs of %d ms: %.2f s\nworkers busy %.1f %% of the time until the "
              "last job has begun, %.1f %% of all the time\nCPU for each job: coordinator %.2f ms, "
              "workers %.2f ms, broker %.2f ms\n",
              options.workers, options.jobs, options.job_ms, seconds,
              100 * busy_share(jobs, options.workers, start, last_request),
              100 * busy_share(jobs, options.workers, start, end),
              ms_for_each * (after.coordinator - before.coordinator),
              ms_for_each * (after.workers - before.workers),
              ms_for_each * (after.broker - before.broker));
}

/// Returns whether each job had one result.
bool kill_broker(remote::test::NatsServerFake& server, const Options& options) {
  Pool pool(server, options.workers, milliseconds(options.job_ms));
  std::thread killer([&] {
    std::mt19937 random(1);
    for (int i = 0; i < options.kills; ++i) {
      std::this_thread::sleep_for(milliseconds(100 + random() % 1500));
      server.kill();
      server.restart(random() % 2 == 0);
    }
  });
  const double seconds = pool.seconds_of(options.jobs);
  killer.join();
  std::this_thread::sleep_for(std::chrono::seconds(2)); // for results that come twice
  const int good = pool.well_answered();
  std::printf("%d jobs, broker killed %d times: %.1f s, %d jobs have exactly one result\n",
              options.jobs, options.kills, seconds, good);
  return good == options.jobs;
}

} // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Measures what judging through a broker costs");
  app.add_option("--workers", options.workers)->capture_default_str()->check(CLI::Range(1, 500));
  app.add_option("--jobs", options.jobs)->capture_default_str()->check(CLI::Range(1, 1'000'000));
  app.add_option("--job-ms", options.job_ms)->capture_default_str()->check(CLI::Range(1, 60'000));
  app.add_option("--kills", options.kills)->capture_default_str()->check(CLI::Range(0, 10'000));
  CLI11_PARSE(app, argc, argv);
  try {
    if (const std::string why = remote::test::NatsServerFake::why_not(); !why.empty()) {
      throw Error(why);
    }
    remote::test::NatsServerFake server(identities(options.workers));
    if (options.kills > 0) {
      return kill_broker(server, options) ? 0 : 1;
    }
    measure_overhead(server);
    measure_share(server, options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "broker_bench: %s\n", error.what());
    return 1;
  }
}
