// Workers of a pool, each with a connection of its own, in one process that benchmarks can
// kill. They are real workers, but their device is simulated: judging is sleeping.
// Every line of --log is "begun JOB TIME" or "done JOB TIME".
#include "base/error.h"
#include "remote/broker_credentials.h"
#include "remote/testing/pool_fake.h"
#include "remote/transport_library.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace {

using namespace winnow;
using std::chrono::milliseconds;

struct Options {
  std::string url, log;
  std::vector<std::string> credentials;
  bool trusted = false;
  int job_ms = 0;
};

/// Lines that are whole even if the process is killed, each with the time: seconds of the system
/// clock.
class Log {
public:
  explicit Log(const std::string& path)
      : file_(path.empty() ? -1 : open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644)) {}
  Log(const Log&) = delete; // owns a descriptor
  Log& operator=(const Log&) = delete;
  ~Log() { close(file_); }
  void write(const std::string& what, const std::string& job) const {
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    const std::string line = fmt::format("{} {} {:.3f}\n", what, job, now.count());
    if (file_ >= 0 && ::write(file_, line.data(), line.size()) < 0) {
      std::perror("simulated_workers: --log");
    }
  }

private:
  int file_;
};

/// Sleeps from half as long to half as long again, and calls the kernel correct.
remote::test::Judge sleeping(const Options& options, const Log& log) {
  return [&options, &log, random = std::mt19937(std::random_device()())](
             const evaluators::EvaluationRequest& request, const std::stop_token& stop) mutable {
    log.write("begun", request.id);
    std::uniform_real_distribution<double> factor(0.5, 1.5);
    std::this_thread::sleep_for(options.job_ms * factor(random) * milliseconds(1));
    auto result = remote::test::judge_correct(request, stop);
    log.write("done", request.id);
    return result;
  };
}

std::unique_ptr<remote::WorkerTransport> connected(const remote::BrokerAddress& broker,
                                                   const remote::WorkerIdentity& identity) {
  for (;;) {
    try {
      return remote::nats_transports().worker(broker, identity);
    } catch (const remote::BrokerUnavailable&) { // it may come back
      std::this_thread::sleep_for(milliseconds(200));
    }
  }
}

struct Worker {
  std::unique_ptr<remote::WorkerTransport> transport;
  std::unique_ptr<remote::test::WorkerOnThread> thread;
};

int work(const Options& options) {
  const Log log(options.log);
  std::vector<Worker> workers;
  for (const std::string& file : options.credentials) {
    const remote::BrokerAddress broker = remote::broker_address(options.url, {.credentials = file});
    Worker& worker = workers.emplace_back();
    worker.transport = connected(broker, {broker.user, "pool", options.trusted});
    worker.thread = std::make_unique<remote::test::WorkerOnThread>(
        *worker.transport, sleeping(options, log), options.trusted, false, broker.user);
  }
  std::puts("ready");
  std::fflush(stdout);
  for (std::size_t failed = 0; failed < workers.size();
       std::this_thread::sleep_for(milliseconds(200))) {
    failed = 0;
    for (const Worker& worker : workers) {
      failed += worker.thread->failure().empty() ? 0 : 1;
    }
  }
  std::fprintf(stderr, "simulated_workers: %s\n", workers.back().thread->failure().c_str());
  return 1;
}

} // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Real workers with simulated devices, of the pool 'pool'");
  app.add_option("--broker", options.url, "nats://HOST:PORT")->required();
  app.add_option("--credentials", options.credentials, "one file for each worker")->required();
  app.add_option("--job-ms", options.job_ms, "mean time of a job")->check(CLI::NonNegativeNumber);
  app.add_option("--log", options.log, "file to which the jobs are appended");
  app.add_flag("--trusted", options.trusted, "also take the jobs of trusted workers");
  CLI11_PARSE(app, argc, argv);
  try {
    return work(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "simulated_workers: %s\n", error.what());
    return 1;
  }
}
