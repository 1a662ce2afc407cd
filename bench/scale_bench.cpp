// Where a search at a broker meets its first limit. Starts nats-server and processes with simulated
// workers, and drives one run: the loop, the remote evaluations with their checks, the store and
// the search log are those of `winnow run --broker`. Kernels are made up at once, and a device
// sleeps. Prints now and then what the run, the broker and the workers have done and used.
// bench/scale.py runs this program several times for one store, and times the board in between.
#include "base/error.h"
#include "base/files.h"
#include "bench/process_usage.h"
#include "bench/scale_workers.h"
#include "bench/simulated_judge.h"
#include "bench/store_filler.h"
#include "evaluators/evaluation/local_evaluations.h"
#include "harness/exit/interrupt.h"
#include "harness/run/run_loop.h"
#include "remote/remote_devices.h"
#include "remote/testing/nats_server_fake.h"
#include "remote/testing/pool_fake.h"
#include "remote/transport_library.h"
#include "tasks/parse/task_parse.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <ostream>
#include <set>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

using namespace winnow;
using Clock = std::chrono::steady_clock;

constexpr int kHeldByDevice = 2; // RunLoop keeps so many requests for each device
const std::vector<std::string> kTasks{"blas/axpy", "broadcast/bias_relu", "reduction/reduce_sum",
                                      "activation/gelu"};

struct Options {
  bench::WorkerPlan workers;
  std::int64_t evaluations = 10'000;
  std::int64_t every = 1'000;
  std::string store = "scale.db";
  std::string run;
  bool without_broker = false, rows_only = false;
};

int own_thread() {
  return static_cast<int>(syscall(SYS_gettid));
}

/// Answers at once: the baseline of the task with a comment of its own.
class MadeUpModel : public agents::ModelEndpoint {
public:
  MadeUpModel(const std::vector<tasks::Task>& tasks, std::string run) : run_(std::move(run)) {
    for (const tasks::Task& task : tasks) {
      baselines_[task.name] = task.baseline;
    }
  }
  std::string_view kind() const override { return "simulated"; }
  void start(agents::ModelRequest request, std::function<void(agents::ModelReply)> done) override {
    agents::ModelReply reply;
    reply.status = agents::ModelReply::Status::Ok;
    reply.finish_reason = "stop";
    reply.model = request.model;
    reply.text = fmt::format("Each thread takes more elements, so that loads overlap.\n\n"
                             "```cuda\n{}{}{} {}\n```\n",
                             baselines_.at(request.key.substr(0, request.key.find('/'))),
                             bench::kMadeUp, run_, request.key);
    reply.usage.prompt_tokens = 4'000;
    reply.usage.completion_tokens = 1'000;
    done(std::move(reply));
  }
  void cancel_all() override {}

private:
  std::string run_;
  std::map<std::string, std::string> baselines_; ///< by task
};

/// Judges at once, in this process.
class HastyLane : public evaluators::Lane {
public:
  std::vector<tasks::Evaluation> evaluate(const evaluators::EvaluationRequest& request,
                                          const std::stop_token& /*stop*/) override {
    return {verdicts_.of(request, 1)};
  }

private:
  bench::ScaledVerdicts verdicts_;
};

/// Prints what has been done and used, each time that enough results have come.
class Account {
public:
  Account(const Options& options, const bench::WorkerProcesses* workers,
          const remote::test::NatsServerFake* broker)
      : options_(options), workers_(workers), broker_(broker) {
    std::puts("evaluations      s   per s  busy %  jobs per evaluation | coordinator: RSS MB  CPU s"
              "  loop  results | workers: RSS MB  CPU s  restarts | broker: RSS MB  CPU s  disk MB "
              "| store MB");
  }

  /// Counts a result, on a thread that takes results.
  void count() {
    const std::lock_guard lock(mutex_);
    result_threads_.insert(own_thread());
    if (++count_ % options_.every == 0) {
      print();
    }
  }

private:
  double cpu_seconds_for_results() const {
    double seconds = 0;
    for (const int thread : result_threads_) {
      seconds += bench::cpu_seconds_of_thread(thread);
    }
    return seconds;
  }

  void print() {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const auto results = static_cast<double>(count_);
    const bench::WorkDone work = workers_ == nullptr ? bench::WorkDone{} : workers_->done();
    const double busy = (work.busy_seconds - before_.busy_seconds) / (seconds - seconds_before_) /
                        options_.workers.workers;
    const bench::ProcessUsage self = bench::usage_of(getpid());
    fmt::print("{:>11} {:>6.0f} {:>7.1f} {:>7.1f} {:>20.3f} |{:>20.0f} {:>6.1f} {:>5.1f} {:>8.1f}",
               count_, seconds, static_cast<double>(options_.every) / (seconds - seconds_before_),
               100 * busy, work.jobs / results, self.resident_mb, self.cpu_seconds,
               bench::cpu_seconds_of_thread(loop_thread_), cpu_seconds_for_results());
    fmt::print(" |{:>16.0f} {:>6.0f} {:>9}", work.resident_mb, work.cpu_seconds, work.restarts);
    if (broker_ != nullptr) {
      const bench::ProcessUsage usage = bench::usage_of(broker_->process_id());
      fmt::print(" |{:>15.0f} {:>6.0f} {:>8.0f}", usage.resident_mb, usage.cpu_seconds,
                 bench::megabytes_below(broker_->folder() / "store"));
    }
    fmt::print(" |{:>9.0f}\n", bench::megabytes_of_store(options_.store));
    std::fflush(stdout);
    before_ = work;
    seconds_before_ = seconds;
  }

  const Options& options_;
  const bench::WorkerProcesses* workers_;
  const remote::test::NatsServerFake* broker_;
  const int loop_thread_ = own_thread();
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_; ///< guards the members below
  std::set<int> result_threads_;
  std::int64_t count_ = 0;
  bench::WorkDone before_;
  double seconds_before_ = 0;
};

std::vector<tasks::Task> load_tasks() {
  std::vector<tasks::Task> tasks;
  for (const std::string& name : kTasks) {
    tasks.push_back(tasks::load_task(std::string(WINNOW_SOURCE_DIR) + "/tasks/catalogue/" + name));
  }
  return tasks;
}

harness::RunConfig config_of(const Options& options) {
  const auto tasks = static_cast<std::int64_t>(kTasks.size());
  harness::RunConfig config;
  config.proposals = options.evaluations / tasks;
  config.chains = kHeldByDevice * options.workers.workers / tasks;
  config.max_variants = 1; // no heats: each candidate has one evaluation
  config.endpoint.kind = "simulated";
  config.endpoint.model = "made-up";
  config.endpoint.parallel = kHeldByDevice * options.workers.workers;
  return config;
}

/// The run's store, with a run of its own in it.
class OpenRun {
public:
  explicit OpenRun(const Options& options)
      : config(config_of(options)), tasks(load_tasks()), model(tasks, options.run),
        store(options.store, store::RunStore::Mode::ReadWrite),
        journal(store,
                store.create_run(options.run, config_to_json(config), nlohmann::json::object())) {}

  const harness::RunConfig config;
  const std::vector<tasks::Task> tasks;
  MadeUpModel model;
  store::RunStore store;
  harness::Journal journal;
};

/// The loop of `winnow run`, with a model that answers at once.
void drive(const Options& options, const evaluators::EvaluationsFactory& evaluations,
           Account& account, harness::Interrupt& interrupt) {
  OpenRun run(options);
  const agents::PromptTemplates templates(run.config.prompts);
  std::ostream nowhere(nullptr);
  harness::Progress progress(nowhere, false, 80);
  const remote::PoolRules device = remote::test::pool_rules();
  harness::RunLoop loop(
      {.config = run.config,
       .tasks = run.tasks,
       .facts = {},
       .device_kind = device.device_kind,
       .device_name = device.device_name,
       .devices = options.workers.workers,
       .journal = run.journal,
       .models = {{"", run.config.endpoint, run.model, {}}},
       .prompts = [&](const auto& context) { return templates.proposal(context); },
       .evaluations =
           [&](evaluators::TakeResult done) {
             return evaluations([&account, done = std::move(done)](auto result) {
               done(std::move(result));
               account.count();
             });
           },
       .progress = progress});
  const harness::OnInterrupt stop(interrupt, [&] { loop.interrupt(); });
  const harness::RunOutcome outcome = loop.run();
  fmt::print("{} calls; {}\n", outcome.spend.calls,
             outcome.end == harness::RunOutcome::End::Finished ? "finished" : outcome.message);
}

/// So that workers need not ask again and again until the coordinator is there.
void open_pool(const remote::test::NatsServerFake& broker) {
  const auto transport =
      remote::nats_transports().coordinator(broker.address_of("coordinator"), "opening");
  transport->prepare("pool");
  transport->set_pool_rules("pool", encode(remote::test::pool_rules()));
  transport->end_session();
}

void run_at_broker(const Options& options, harness::Interrupt& interrupt) {
  if (const std::string why = remote::test::NatsServerFake::why_not(); !why.empty()) {
    throw Error(why);
  }
  const remote::test::NatsServerFake broker(bench::identities(options.workers.workers));
  open_pool(broker);
  const TemporaryDirectory statistics("scale-workers");
  const bench::WorkerProcesses workers(options.workers, broker.url(), broker.folder(),
                                       statistics.path());
  remote::RemoteDevices::Setup setup;
  setup.broker = broker.address_of("coordinator");
  setup.pool = "pool";
  setup.secret = "scale";
  setup.warn = [](const std::string& line) { fmt::print("{}\n", line); };
  const remote::RemoteDevices devices(remote::nats_transports(), std::move(setup));
  Account account(options, &workers, &broker);
  drive(options, devices.factory(), account, interrupt);
}

void run_without_broker(const Options& options, harness::Interrupt& interrupt) {
  Account account(options, nullptr, nullptr);
  const auto on_one_lane = [](evaluators::TakeResult done) {
    evaluators::LocalEvaluations::Setup setup;
    setup.lanes.push_back(std::make_unique<HastyLane>());
    setup.done = std::move(done);
    return std::make_unique<evaluators::LocalEvaluations>(std::move(setup));
  };
  drive(options, on_one_lane, account, interrupt);
}

void write_rows_only(const Options& options) {
  Account account(options, nullptr, nullptr);
  OpenRun run(options);
  bench::StoreFiller(run.journal, run.tasks, run.model).fill(options.evaluations, [&] {
    account.count();
  });
}

} // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Drives a run with many simulated workers at a real broker");
  app.add_option("--workers", options.workers.workers)->capture_default_str();
  app.add_option("--processes", options.workers.processes, "of the workers")->capture_default_str();
  app.add_option("--least-ms", options.workers.job.least_ms)->capture_default_str();
  app.add_option("--most-ms", options.workers.job.most_ms)->capture_default_str();
  app.add_option("--evaluations", options.evaluations)->capture_default_str();
  app.add_option("--every", options.every, "print after so many")->capture_default_str();
  app.add_option("--store", options.store)->capture_default_str();
  app.add_option("--run", options.run, "its name in the store")->required();
  app.add_flag("--without-broker", options.without_broker, "judge at once, in this process");
  app.add_flag("--rows-only", options.rows_only, "only write the rows that a run would write");
  try {
    if (argc > 1 && std::string(argv[1]) == "work") {
      return bench::work_in_process({argv + 2, argv + argc});
    }
    CLI11_PARSE(app, argc, argv);
    harness::Interrupt interrupt; // before any other thread starts
    options.rows_only        ? write_rows_only(options)
    : options.without_broker ? run_without_broker(options, interrupt)
                             : run_at_broker(options, interrupt);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "scale_bench: %s\n", error.what());
    return 1;
  }
}
