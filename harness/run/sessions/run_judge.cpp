#include "harness/run/sessions/run_judge.h"

#include "base/error.h"
#include "base/files.h"
#include "harness/machine/machine.h"
#include "harness/report/task_report.h"
#include "harness/run/reports/reports.h"
#include "harness/serve/http/work_queue.h"
#include "harness/serve/judge_routes.h"
#include "harness/serve/mailbox/mailbox_server.h"
#include "harness/serve/server_application.h"

#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/steady_timer.hpp>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;
namespace asio = boost::asio;

constexpr const char* kMailbox = ".judge"; // in a workspace
constexpr std::chrono::milliseconds kSessionsTick{250};
constexpr std::size_t kAskedForEach = 8; // device

/// The pages that ./judge needs, and no others: a session declares no runs.
bool may_ask(const std::string& method, const Target& target) {
  if (method == "POST") {
    return target.is({"v1", "judge"});
  }
  const std::set<std::string> pages{"account", "batches", "health", "jobs", "reports", "tasks"};
  return target.path.size() > 1 && target.path[0] == "v1" && pages.contains(target.path[1]);
}

} // namespace

std::string name_of_sessions(const std::string& run) {
  return run + ".sessions";
}

/// Takes what the mailboxes bring, on a thread of its own.
class RunJudge::Working : public HttpApplication {
public:
  explicit Working(Setup setup)
      : setup_(std::move(setup)), store_(setup_.store, store::RunStore::Mode::ReadWrite),
        run_(own_run()), reports_(setup_.store, setup_.device,
                                  [this](const std::string& name) { return task(name); }),
        service_(service_setup()), routes_(service_, routes_setup()) {
    store_.set_run_status(run_, "running");
    service_.start();
    tick_later();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~Working() override {
    sessions_.clear(); // their threads post
    on_thread([this] {
      routes_.end();
      try {
        store_.set_run_status(run_, "finished");
      } catch (const Error&) { // the store is full, or has gone: the run itself says so
        return;
      }
    });
    io_.stop();
    thread_.join();
  }
  Working(const Working&) = delete; // owns a thread
  Working& operator=(const Working&) = delete;

  agents::SessionPass open(const std::string& session, const std::string& task_name,
                           const fs::path& workspace, const agents::SessionLimits& limits) {
    task(task_name); // throws if it is none of this run
    const fs::path folder = workspace / kMailbox;
    fs::create_directory(folder);
    fs::permissions(folder, fs::perms::owner_all);
    {
      const std::lock_guard lock(mutex_);
      limits_[session] = static_cast<std::size_t>(limits.evaluations);
    }
    if (const std::string best = best_of(session, task_name); !best.empty()) { // it was killed
      write_file_atomic(workspace / "kernel.cu", best);
    }
    const auto turn = [this](const std::string& owner, std::function<void()> work, Turn turn) {
      queue_.push(owner, std::move(work), turn);
    };
    auto mailbox = std::make_unique<MailboxServer>(folder, session, *this, turn);
    const std::lock_guard lock(mutex_);
    sessions_[session] = {task_name, std::move(mailbox)};
    return {folder, ""};
  }

  agents::SessionRecord close(const std::string& session) {
    Session closed;
    {
      const std::lock_guard lock(mutex_);
      const auto known = sessions_.find(session);
      if (known == sessions_.end()) {
        return {};
      }
      closed = std::move(known->second);
      sessions_.erase(known);
      limits_[session] = 0;
    }
    closed.mailbox.reset(); // nothing comes any more
    agents::SessionRecord record;
    on_thread([&] {
      for (const store::AskedKernel& kernel : service_.asked(session)) {
        record.evaluations += 1;
        service_.cancel(session, kernel.job);
      }
    });
    record.best_kernel = best_of(session, closed.task);
    return record;
  }

  // HttpApplication: a request's authorization is the name of its session.
  Admission admit(const HttpRequest& head) override {
    const auto target = parse_target(head.target);
    if (!target || !may_ask(head.method, *target)) {
      return {error_reply(404, "a session cannot ask for this")};
    }
    return {std::nullopt, head.authorization};
  }
  void handle(std::shared_ptr<Exchange> exchange) override {
    answering(*exchange, [&] {
      const HttpRequest& request = exchange->request();
      routes_.answer(exchange, parse_target(request.target).value(), {request.authorization});
    });
  }
  void tick() override { routes_.tick(); }
  void end() override { routes_.end(); }

private:
  struct Session {
    std::string task;
    std::unique_ptr<MailboxServer> mailbox;
  };

  store::RowId own_run() {
    const std::string name = name_of_sessions(setup_.run);
    if (const auto known = store_.find_run(name); known && known->name == name) {
      return known->id;
    }
    return store_.create_run(name, {{"kind", "server"}}, setup_.environment);
  }
  std::shared_ptr<const tasks::Task> task(const std::string& name) const {
    for (const auto& one : setup_.tasks) {
      if (one->name == name || one->category + "/" + one->name == name) {
        return one;
      }
    }
    throw UsageError("this session has no task '" + name + "'", "judge kernels of its own task");
  }
  JudgeServiceSetup service_setup() {
    JudgeServiceSetup setup{store_, run_};
    setup.find_task = [this](const std::string& name) { return task(name); };
    setup.evaluations = setup_.evaluations;
    setup.protocol = setup_.protocol;
    setup.device_kind = setup_.device.kind;
    setup.device_name = setup_.device.name;
    setup.in_flight = kAskedForEach * setup_.devices;
    setup.owners = 2; // no session gets a result that another one has caused
    setup.light = setup_.light;
    setup.allowance = [this](const std::string& session) {
      const std::lock_guard lock(mutex_);
      const auto known = limits_.find(session);
      return std::optional(Allowance{known == limits_.end() ? 0 : known->second,
                                     hidden_draw_of(setup_.run, session)});
    };
    setup.post = [this](std::function<void()> work) { queue_.push(std::move(work)); };
    return setup;
  }
  JudgeRoutes::Setup routes_setup() {
    JudgeRoutes::Setup setup;
    setup.in_turn = [this](const std::string& owner, std::function<void()> work, Turn turn) {
      queue_.push(owner, std::move(work), turn);
    };
    setup.version = winnow_version();
    setup.task = [this](const std::string& name) { return served_task_json(*task(name)); };
    setup.task_list = [this] {
      std::vector<tasks::Task> all;
      for (const auto& one : setup_.tasks) {
        all.push_back(*one);
      }
      return served_list_json(all);
    };
    setup.report = [this](const Target& target, const std::string& sees) {
      return reports_.page(target, sees);
    };
    return setup;
  }
  /// The correct kernel of the session with the least time; empty: there is none. A disturbed
  /// baseline makes a speedup too good, but nothing makes a time too short.
  std::string best_of(const std::string& session, const std::string& task_name) {
    std::string text;
    on_thread([&] {
      constexpr double kUntimed = 1e300;
      double least = 2 * kUntimed;
      for (const store::AskedKernel& kernel : service_.asked(session)) {
        const bool is_ranked = kernel.promoted && kernel.score_ns > 0;
        const double time = is_ranked ? kernel.score_ns : kUntimed;
        if (kernel.verdict != tasks::Verdict::Correct || time >= least) {
          continue;
        }
        const store::CandidateRow row = store_.candidate(kernel.candidate);
        if (row.task == task_name) {
          least = time;
          text = row.text;
        }
      }
    });
    return text;
  }
  /// Does it on the thread that uses the service, and waits.
  void on_thread(const std::function<void()>& work) {
    std::promise<void> made;
    queue_.push([&] {
      try {
        work();
        made.set_value();
      } catch (...) {
        made.set_exception(std::current_exception());
      }
    });
    made.get_future().get();
  }
  void tick_later() {
    ticker_.expires_after(kSessionsTick);
    ticker_.async_wait([this](const boost::system::error_code& error) {
      if (!error) {
        tick();
        tick_later();
      }
    });
  }

  Setup setup_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> stays_ = asio::make_work_guard(io_);
  asio::steady_timer ticker_{io_};
  WorkQueue queue_{io_, [](const WorkQueue::Request& /*request*/) {}};
  std::mutex mutex_;                          ///< guards the next two
  std::map<std::string, std::size_t> limits_; ///< of evaluations, by session; 0: it is over
  std::map<std::string, Session> sessions_;   ///< that are open
  store::RunStore store_;                     ///< of the thread, as what follows
  store::RowId run_;
  ServedReports reports_;
  JudgeService service_;
  JudgeRoutes routes_;
  std::thread thread_;
};

RunJudge::RunJudge() = default;
RunJudge::~RunJudge() = default;

void RunJudge::begin(Setup setup) {
  working_ = std::make_unique<Working>(std::move(setup));
}

void RunJudge::end() {
  working_.reset();
}

agents::SessionPass RunJudge::open(const std::string& session, const std::string& task,
                                   const fs::path& workspace, const agents::SessionLimits& limits) {
  if (!working_) {
    throw Error("the judge of sessions has not begun");
  }
  return working_->open(session, task, workspace, limits);
}

agents::SessionRecord RunJudge::close(const std::string& session) {
  return working_ ? working_->close(session) : agents::SessionRecord{};
}

} // namespace winnow::harness
